package evaluators_test

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

// A page is visited again and found unchanged.
func Example() {
	same := digest.Comparison{Sum: digest.Of([]byte("<p>news</p>"))}
	verdict := evaluators.ChangeEvaluator{}.Judge(
		evaluators.Before{Known: true, Status: 200, Comparison: same},
		evaluators.Seen{Status: 200, Comparison: same, Complete: true},
	)
	texts, _ := digest.TypePattern("^text/.*$")
	stack := evaluators.Stack{{Name: "text", MIME: texts, Rule: evaluators.Classic{}}}
	wait := stack.Next(evaluators.WaitInput{
		MIME: "text/html; charset=utf-8", State: verdict.State, First: verdict.First, Previous: 12 * time.Hour,
	})
	fmt.Println(verdict.State, "because:", verdict.Reason)
	fmt.Println(wait.Evaluator, "says", wait.Reason)
	// Output:
	// unchanged because: same digest
	// text says unchanged: 12h × 1.5 = 18h
}
