package form_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/planning/form"
)

const booking = `{"type":"object","properties":{
	"name":{"type":"string","title":"Your name","minLength":2},
	"mail":{"type":"string","format":"email"},
	"day":{"type":"string","format":"date"},
	"guests":{"type":"integer","minimum":1,"maximum":8,"default":2},
	"tip":{"type":"number"},
	"window":{"type":"boolean","default":true},
	"room":{"type":"string","enum":["s","l"],"enumNames":["small","large"]},
	"meal":{"type":"string","oneOf":[{"const":"v","title":"vegan"},{"const":"f","title":"fish"}]},
	"extras":{"type":"array","items":{"anyOf":[{"const":"bike","title":"Bicycle"},{"const":"boat","title":"Boat"}]},"maxItems":1}
},"required":["name","guests"]}`

func parsed(t *testing.T, schema string) []form.Field {
	t.Helper()
	fields, err := form.Parse(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestRequiredFieldsComeFirst(t *testing.T) {
	var got []string
	for _, f := range parsed(t, booking) {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", f.Label(), f.Kind, f.Hint(), f.DefaultText()))
	}
	want := []string{
		"Your name|text|at least 2 characters|", "guests|integer|a whole number, 1 to 8|2", "mail|text|an email address, optional|",
		"day|text|a date such as 2026-07-28, optional|",
		"tip|number|a number, optional|", "window|boolean|yes or no, optional|yes",
		"room|choice|one of s (small), l (large), optional|", "meal|choice|one of v (vegan), f (fish), optional|",
		"extras|choices|some of bike (Bicycle), boat (Boat), separated by commas, at most 1 of them, optional|",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestTypedTextsBecomeValues(t *testing.T) {
	content, err := form.ReadAll(parsed(t, booking), map[string]string{
		"name": "Ann Lee", "guests": " 3 ", "tip": "2.50", "window": "No", "room": "LARGE", "meal": "v", "extras": "boat,", "mail": "a@b.org", "day": "2026-07-28",
	})
	want := map[string]any{
		"name": "Ann Lee", "guests": json.Number("3"), "tip": json.Number("2.50"), "window": false, "room": "l", "meal": "v",
		"extras": []any{"boat"}, "mail": "a@b.org", "day": "2026-07-28",
	}
	if err != nil || !reflect.DeepEqual(content, want) {
		t.Errorf("got %v, %v", content, err)
	}
}

func TestOptionsMayHoldCommas(t *testing.T) {
	f := parsed(t, `{"properties":{"to":{"type":"array","default":["Bonn, Germany","Rome"],"items":{"anyOf":[
		{"const":"Rome"},{"const":"Bonn, Germany"},{"const":"Bonn"},{"const":"lim","title":"Lima, Peru, at night"}]}}}}`)[0]
	for text, want := range map[string][]any{
		"Bonn, Germany":                       {"Bonn, Germany"},
		"Bonn, Rome":                          {"Bonn", "Rome"},
		"rome, bonn, germany ,, Bonn":         {"Rome", "Bonn, Germany", "Bonn"},
		"Lima, Peru, at night, Rome":          {"lim", "Rome"},
		"Rome,Lima, Peru, at night,":          {"Rome", "lim"},
		f.DefaultText():                       {"Bonn, Germany", "Rome"},
		"Bonn, Germany, Lima, Peru, at night": {"Bonn, Germany", "lim"},
	} {
		if got, _, err := f.Read(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"Lima, Peru", "Germany", "Rome, Germany"} {
		if got, _, err := f.Read(text); err == nil {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestWrongTextsAreRefusedWithTheirField(t *testing.T) {
	for want, texts := range map[string]map[string]string{
		"Your name is required":          {"guests": "1"},
		"Your name takes at least 2":     {"name": "A", "guests": "1"},
		"guests takes a whole number":    {"name": "Ann", "guests": "1.5"},
		"guests takes 1 to 8":            {"name": "Ann", "guests": "9"},
		"tip takes a number":             {"name": "Ann", "guests": "1", "tip": "much"},
		"window takes yes or no":         {"name": "Ann", "guests": "1", "window": "maybe"},
		"room takes one of s (small)":    {"name": "Ann", "guests": "1", "room": "m"},
		"extras takes one of bike":       {"name": "Ann", "guests": "1", "extras": "car"},
		"extras takes at most 1 of them": {"name": "Ann", "guests": "1", "extras": "bike, boat"},
		"mail takes an email address":    {"name": "Ann", "guests": "1", "mail": "at home"},
		"day takes a date":               {"name": "Ann", "guests": "1", "day": "tomorrow"},
	} {
		if _, err := form.ReadAll(parsed(t, booking), texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAnswersOfProgramsAreChecked(t *testing.T) {
	fields := parsed(t, booking)
	if err := form.Check(fields, map[string]any{"name": "Ann", "guests": json.Number("2"), "extras": []any{"bike"}}); err != nil {
		t.Error(err)
	}
	for want, content := range map[string]map[string]any{
		`no field "other"`:       {"other": "x"},
		"guests takes a whole":   {"name": "Ann", "guests": "two"},
		"window takes yes or no": {"name": "Ann", "guests": json.Number("2"), "window": "yes"},
		"extras takes some of":   {"name": "Ann", "guests": json.Number("2"), "extras": "bike"},
	} {
		if err := form.Check(fields, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSchemasThatAreNoFormAreRefused(t *testing.T) {
	many := `{"properties":{`
	for i := range form.MaxFields + 1 {
		many += fmt.Sprintf(`"f%d":{"type":"string"},`, i)
	}
	for want, schema := range map[string]string{
		"read the form":               `[]`,
		`the type "object"`:           `{"properties":{"a":{"type":"object"}}}`,
		"a list without options":      `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		"the form has 51 fields":      many[:len(many)-1] + `}}`,
		"read the fields of the form": `{"properties":{"a":7}}`,
	} {
		if _, err := form.Parse(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if fields := parsed(t, `{"type":"object"}`); len(fields) != 0 {
		t.Errorf("got %v", fields)
	}
}

func TestFieldsForSecretsAreFound(t *testing.T) {
	for property, secret := range map[string]bool{
		`"password":{"type":"string"}`:                                                        true,
		`"x":{"type":"string","title":"API key"}`:                                             true,
		`"x":{"type":"string","format":"password"}`:                                           true,
		`"PIN":{"type":"string"}`:                                                             true,
		`"x":{"type":"string","description":"Your access token"}`:                             true,
		`"x":{"type":"integer","description":"Needed for the order. Please enter the pin."}`:  true,
		`"x":{"type":"string","description":"Enter your password, not that of your team"}`:    true,
		`"x":{"type":"string","description":"do not give us your pin"}`:                       false,
		`"x":{"type":"string","description":"The account:\n- enter its password"}`:            true,
		`"x":{"type":"string","description":"Do not enter\nyour pin"}`:                        false,
		`"x":{"type":"string","description":"Don't enter a password here"}`:                   false,
		`"x":{"type":"string","description":"Enter the name of your card, never its pin"}`:    false,
		`"x":{"type":"string","description":"The page on which users change their password"}`: false,
		`"pinned":{"type":"boolean"}`:                                                         false,
		`"pin":{"type":"boolean"}`:                                                            false,
		`"token":{"type":"string","enum":["word","line"]}`:                                    false,
		`"secret":{"type":"array","items":{"enum":["a","b"]}}`:                                false,
		`"tokens":{"type":"integer","description":"most tokens to write"}`:                    false,
		`"name":{"type":"string"}`:                                                            false,
	} {
		fields := parsed(t, `{"properties":{`+property+`}}`)
		if got := form.Warning(fields) != ""; got != secret {
			t.Errorf("%s: got %t", property, got)
		}
	}
}
