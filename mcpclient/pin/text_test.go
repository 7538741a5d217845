package pin_test

import (
	"strings"
	"testing"

	"replan/mcpclient/pin"
)

func TestTextDependsOnEverythingButOrderAndBlanks(t *testing.T) {
	first := pin.Tool{Description: "Finds pages.\nFast.", InputSchema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`), Annotations: []byte(`{"readOnlyHint":true}`)}
	want := strings.Join([]string{
		"description", "| Finds pages.", "| Fast.", "arguments", "{", `  "properties": {`, `    "q": {`, `      "type": "string"`, "    }", "  },",
		`  "type": "object"`, "}", "hints", "{", `  "readOnlyHint": true`, "}", "",
	}, "\n")
	if got := first.Text(); got != want {
		t.Errorf("got\n%s", got)
	}
	_, arguments, _ := strings.Cut(want, "Fast.\n")
	arguments, _, _ = strings.Cut(arguments, "hints")
	for name, c := range map[string]struct {
		tool pin.Tool
		same bool
	}{
		"order and blanks":           {pin.Tool{Description: first.Description, InputSchema: []byte(`{ "properties": {"q": {"type": "string"}}, "type": "object" }`), Annotations: first.Annotations}, true},
		"description":                {pin.Tool{Description: "Finds pages.\nfast.", InputSchema: first.InputSchema, Annotations: first.Annotations}, false},
		"zero-width space":           {pin.Tool{Description: "Finds pages.\u200b\nFast.", InputSchema: first.InputSchema, Annotations: first.Annotations}, false},
		"schema":                     {pin.Tool{Description: first.Description, InputSchema: []byte(`{"type":"object","properties":{"q":{"type":"string","description":"a secret"}}}`), Annotations: first.Annotations}, false},
		"hint":                       {pin.Tool{Description: first.Description, InputSchema: first.InputSchema, Annotations: []byte(`{"readOnlyHint":false}`)}, false},
		"result":                     {pin.Tool{Description: first.Description, InputSchema: first.InputSchema, OutputSchema: []byte(`{"type":"object"}`), Annotations: first.Annotations}, false},
		"repeated key":               {pin.Tool{Description: first.Description, InputSchema: []byte(`{"type":"string","type":"object","properties":{"q":{"type":"string"}}}`), Annotations: first.Annotations}, false},
		"heading in the description": {pin.Tool{Description: first.Description + "\n" + arguments, Annotations: first.Annotations}, false},
	} {
		if same := c.tool.Text() == first.Text(); same != c.same {
			t.Errorf("%s: the texts are the same: %t", name, same)
		}
	}
	long := pin.Tool{InputSchema: []byte(`{"description":"` + strings.Repeat("x", 200<<10) + `"}`)}
	longer := pin.Tool{InputSchema: []byte(`{"description":"` + strings.Repeat("x", 200<<10-1) + `y"}`)}
	if long.Text() == longer.Text() || len(long.Text()) > 200 {
		t.Errorf("long schemas have the texts %.200s and %.200s", long.Text(), longer.Text())
	}
	long, longer = pin.Tool{Description: strings.Repeat("x", 200<<10)}, pin.Tool{Description: strings.Repeat("x", 200<<10-1) + "y"}
	if long.Text() == longer.Text() || len(long.Text()) > 200 {
		t.Errorf("long descriptions have the texts %.200s and %.200s", long.Text(), longer.Text())
	}
}
