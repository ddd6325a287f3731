package fleet

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// joining makes one answer from the answers of nodes, field by field. The tag `join` of each field says how:
//
//	sum          numbers are added; a negative one is unknown, and so is the sum
//	max, min     the largest or the smallest number; the latest or the earliest time that is known
//	or, and      of truths
//	first        is the same everywhere
//	some         the first that is not empty
//	texts        the different texts, with commas
//	list         all lists, one after the other
//	named        the texts, with the names of the nodes; see list
//	parts        a struct, or a pointer to one, whose fields are joined in turn
//
// Elements of a list are taken as they are, except that a field with the tag "named" gets the name of the node. All
// other tags name a rule in [fieldRules] or in [answerRules].
type joining struct {
	from  *http.Request
	body  []byte   // of the request
	notes []string // what the answer does not have, for people

	ofFields  map[string]ruleOfField
	ofAnswers map[string]ruleOfAnswer
}

// ruleOfField returns the value of a field from its values in the answers of some nodes.
type ruleOfField func(j *joining, values []reflect.Value, nodes []string) reflect.Value

// ruleOfAnswer returns an answer with the fields that have the tag of the rule, from the answers of some nodes.
type ruleOfAnswer func(j *joining, parts []reflect.Value, nodes []string) (reflect.Value, error)

// join makes one answer from the answers of nodes, of which there is at least one.
func join[A any](j *joining, parts []A, nodes []string) (out A, err error) {
	j.ofFields, j.ofAnswers = fieldRules(), answerRules()
	values := make([]reflect.Value, len(parts))
	for i := range parts {
		values[i] = reflect.ValueOf(&parts[i]).Elem()
	}
	return out, j.fields(reflect.ValueOf(&out).Elem(), values, nodes)
}

// fields sets the fields of a struct from the structs in the answers of some nodes.
func (j *joining) fields(out reflect.Value, parts []reflect.Value, nodes []string) error {
	joined := map[string]reflect.Value{} // by rules of answers
	for i := range out.NumField() {
		field := out.Type().Field(i)
		rule := field.Tag.Get("join")
		if whole := j.ofAnswers[rule]; whole != nil {
			if _, done := joined[rule]; !done {
				all, err := whole(j, parts, nodes)
				if err != nil {
					return err
				}
				joined[rule] = all
			}
			out.Field(i).Set(joined[rule].Field(i))
			continue
		}
		values := make([]reflect.Value, len(parts))
		for k, p := range parts {
			values[k] = p.Field(i)
		}
		if err := j.field(out.Field(i), rule, values, nodes); err != nil {
			return fmt.Errorf("%s.%s: %w", out.Type(), field.Name, err)
		}
	}
	return nil
}

// field sets a field from its values.
func (j *joining) field(out reflect.Value, rule string, values []reflect.Value, nodes []string) error {
	if rule == "parts" {
		return j.structs(out, values, nodes)
	}
	join := j.ofFields[rule]
	if join == nil {
		return fmt.Errorf("no tag says how it is joined, or the tag %q is unknown", rule)
	}
	if v := join(j, values, nodes); v.IsValid() {
		out.Set(v)
	}
	return nil
}

// structs sets a struct from structs, or a pointer to one from those that are not nil.
func (j *joining) structs(out reflect.Value, values []reflect.Value, nodes []string) error {
	if out.Kind() != reflect.Pointer {
		return j.fields(out, values, nodes)
	}
	var some []reflect.Value
	var of []string
	for i, v := range values {
		if !v.IsNil() {
			some, of = append(some, v.Elem()), append(of, nodes[i])
		}
	}
	if len(some) == 0 {
		return nil
	}
	out.Set(reflect.New(out.Type().Elem()))
	return j.fields(out.Elem(), some, of)
}

// declared returns an error unless each field of a type, and of the structs in it that are joined, says how it is
// joined.
func declared(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		field := t.Field(i)
		rule := field.Tag.Get("join")
		switch {
		case rule == "parts":
			if err := declared(field.Type); err != nil {
				return err
			}
		case fieldRules()[rule] == nil && answerRules()[rule] == nil:
			return fmt.Errorf("%s.%s has the tag join:%q, which is not a rule; say how the values of several nodes are joined",
				t, field.Name, rule)
		}
	}
	return nil
}

// simpleRules has the rules that fit many types.
func simpleRules() map[string]ruleOfField {
	return map[string]ruleOfField{
		"sum": sumOf, "max": extreme(1), "min": extreme(-1),
		"or": truth(true), "and": truth(false), "list": lists, "named": namedTexts, "texts": differentTexts,
		"first": func(_ *joining, values []reflect.Value, _ []string) reflect.Value { return values[0] },
		"some": func(_ *joining, values []reflect.Value, _ []string) (found reflect.Value) {
			for _, v := range values {
				if !v.IsZero() {
					return v
				}
			}
			return values[0]
		},
	}
}

// sumOf adds numbers. One that is negative is unknown, and so is the sum.
func sumOf(_ *joining, values []reflect.Value, _ []string) reflect.Value {
	sum := reflect.New(values[0].Type()).Elem()
	for _, v := range values {
		switch {
		case sum.CanFloat():
			sum.SetFloat(sum.Float() + v.Float())
		case v.Int() < 0:
			sum.SetInt(-1)
			return sum
		default:
			sum.SetInt(sum.Int() + v.Int())
		}
	}
	return sum
}

// extreme returns the rule for the largest value, with the sign 1, or for the smallest, with -1. Times that are not
// known do not count.
func extreme(sign int) ruleOfField {
	return func(_ *joining, values []reflect.Value, _ []string) (best reflect.Value) {
		for _, v := range values {
			isTime := v.Kind() == reflect.Pointer || v.Kind() == reflect.Struct
			if isTime && v.IsZero() {
				continue
			}
			if !best.IsValid() || compare(v, best)*sign > 0 {
				best = v
			}
		}
		return best
	}
}

// compare compares two numbers, two times, or what two pointers point to.
func compare(a, b reflect.Value) int {
	if a.Kind() == reflect.Pointer {
		return compare(a.Elem(), b.Elem())
	}
	if t, is := a.Interface().(time.Time); is {
		return t.Compare(b.Interface().(time.Time))
	}
	switch {
	case a.CanFloat() && a.Float() > b.Float(), a.CanInt() && a.Int() > b.Int():
		return 1
	case a.CanFloat() && a.Float() < b.Float(), a.CanInt() && a.Int() < b.Int():
		return -1
	}
	return 0
}

// truth returns the rule that is a truth if some value is, and the other one if none is.
func truth(is bool) ruleOfField {
	return func(_ *joining, values []reflect.Value, _ []string) reflect.Value {
		for _, v := range values {
			if v.Bool() == is {
				return v
			}
		}
		return values[0]
	}
}

// lists returns the elements of all lists. A field of an element with the tag "named" gets the name of its node.
func lists(_ *joining, values []reflect.Value, nodes []string) reflect.Value {
	t := values[0].Type()
	all := reflect.New(t).Elem()
	for i, v := range values {
		if all.IsNil() && !v.IsNil() {
			all = reflect.MakeSlice(t, 0, v.Len())
		}
		for k := range v.Len() {
			one := reflect.New(t.Elem()).Elem()
			one.Set(v.Index(k))
			if one.Kind() == reflect.Struct {
				nameFields(one, nodes[i])
			}
			all = reflect.Append(all, one)
		}
	}
	return all
}

// nameFields puts the name of a node before the fields of a struct that ask for it.
func nameFields(v reflect.Value, node string) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("join") == "named" {
			v.Field(i).SetString("node " + node + ": " + v.Field(i).String())
		}
	}
}

// namedTexts returns texts with the names of their nodes.
func namedTexts(_ *joining, values []reflect.Value, nodes []string) reflect.Value {
	var all []string
	for i, v := range values {
		if !v.IsZero() {
			all = append(all, "node "+nodes[i]+": "+v.String())
		}
	}
	return reflect.ValueOf(strings.Join(all, "; "))
}

// differentTexts returns the texts that differ, in their order.
func differentTexts(_ *joining, values []reflect.Value, _ []string) reflect.Value {
	var all []string
	known := map[string]bool{"": true}
	for _, v := range values {
		if text := v.String(); !known[text] {
			known[text] = true
			all = append(all, text)
		}
	}
	return reflect.ValueOf(strings.Join(all, ", "))
}
