package schema

import (
	"fmt"
	"strconv"
	"time"
)

// Field is a value of a file while it is read.
type Field struct {
	Doc   *Document
	Name  string // of the key, as shown in faults
	Path  Path
	Value any
}

// Child returns the value of a key in the table f.
func (f Field) Child(name string, v any) Field {
	return Field{Doc: f.Doc, Name: f.Name, Path: f.Path.Child(name), Value: v}
}

// Fault reports that the value is wrong.
func (f Field) Fault(problem, remedy string) {
	f.Doc.bad[f.Path] = true
	f.Doc.AddFault(f.Finding(problem, remedy))
}

// HiddenFault reports that the value is wrong, without the value: it may hold a secret or be long.
func (f Field) HiddenFault(problem, remedy string) {
	f.Doc.AddFault(f.Doc.AtValue(f.Path, Fault{Key: f.Name, Problem: problem, Remedy: remedy}))
}

// Warn reports that the value is odd.
func (f Field) Warn(problem, remedy string) { f.Doc.AddWarning(f.Finding(problem, remedy)) }

// Finding returns a fault or warning about the value without reporting it.
func (f Field) Finding(problem, remedy string) Fault {
	return f.Doc.AtValue(f.Path, Fault{Key: f.Name, Value: Show(f.Value), Problem: problem, Remedy: remedy})
}

// WrongType reports that the value has another type than want, which has its article: "a text".
func (f Field) WrongType(want, remedy string) {
	f.Fault("is "+typeName(f.Value)+", not "+want, remedy)
}

// Unquoted returns the remedy for a value that should not be a text: to remove the quotes if that is enough, else to
// write what is wanted.
func (f Field) Unquoted(wanted string) string {
	s, ok := f.Value.(string)
	if _, err := strconv.ParseFloat(s, 64); ok && (err == nil || s == "true" || s == "false") {
		return "write " + s + " without quotes"
	}
	return "write " + wanted
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case time.Time:
		return "a date or time"
	case []any:
		return "a list"
	case []map[string]any:
		return "a list of tables"
	}
	return "a table"
}

// Text returns the value if it is a text, and reports a fault otherwise. wanted is the remedy after "write".
func (f Field) Text(wanted string) (string, bool) {
	s, ok := f.Value.(string)
	if !ok {
		f.WrongType("a text", "write "+wanted)
	}
	return s, ok
}

// Quantity returns the value if it is a text with a unit, and reports a fault otherwise. For a bare number the remedy
// suggests three units.
func (f Field) Quantity(wanted string, units [3]string) (string, bool) {
	if n, ok := f.Value.(int64); ok && n >= 0 {
		f.Fault("has no unit", fmt.Sprintf(`write "%d%s", "%d%s" or "%d%s"`, n, units[0], n, units[1], n, units[2]))
		return "", false
	}
	if _, ok := f.Value.(float64); ok {
		f.Fault("has no unit", "write "+wanted)
		return "", false
	}
	return f.Text(wanted)
}

// Texts calls each for every element of a list of texts, and reports everything that is not one.
func (f Field) Texts(wanted string, each func(e Field, s string)) {
	list, ok := f.Value.([]any)
	if !ok {
		remedy := "write a list in brackets, " + wanted
		if s, isText := f.Value.(string); isText {
			remedy = "write [" + Clip(strconv.Quote(s)) + "]"
		}
		f.WrongType("a list", remedy)
		return
	}
	for i, v := range list {
		e := Field{Doc: f.Doc, Name: f.Name, Path: f.Path.Element(i), Value: v}
		if s, ok := e.Text(wanted); ok {
			each(e, s)
		}
	}
}

// Tables returns the elements of a list of tables, and reports a fault if the value is not one.
func (f Field) Tables(remedy string) ([]Field, bool) {
	var fields []Field
	add := func(i int, table any) {
		fields = append(fields, Field{Doc: f.Doc, Name: f.Name, Path: f.Path.Element(i), Value: table})
	}
	switch list := f.Value.(type) {
	case []map[string]any:
		for i, table := range list {
			add(i, table)
		}
		return fields, true
	case []any:
		for i, e := range list {
			if table, ok := e.(map[string]any); ok {
				add(i, table)
			}
		}
		if len(fields) == len(list) {
			return fields, true
		}
	}
	f.WrongType("a list of tables", remedy)
	return nil, false
}

// Once returns what read returns for a field, and calls it only the first time that the value is read. It is for
// values that are stored outside the file and belong to the configuration that was loaded.
func Once[T any](f Field, read func() (T, bool)) (T, bool) {
	type result struct {
		value T
		ok    bool
	}
	if known, ok := f.Doc.once.Load(f.Path); ok {
		r := known.(result)
		return r.value, r.ok
	}
	var r result
	r.value, r.ok = read()
	f.Doc.once.Store(f.Path, r)
	return r.value, r.ok
}
