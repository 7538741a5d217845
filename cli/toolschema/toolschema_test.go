package toolschema_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"replan/cli/toolschema"
)

func TestSchemaIsShownAsATable(t *testing.T) {
	fields := toolschema.Fields(json.RawMessage(`{"type":"object","required":["query"],"properties":{
		"max":{"type":"integer","default":200,"description":"most matches"},
		"query":{"type":"string","description":"what to look for"},
		"kinds":{"type":["array","null"],"items":{"type":"string"}},
		"mode":{"enum":["a","b"]}, "free":true}}`))
	want := "" +
		"  query  string    required     what to look for\n" +
		"  free   any\n" +
		"  kinds  [string]\n" +
		"  max    integer   default 200  most matches\n" +
		"  mode   a|b\n"
	if got := toolschema.Example(fields, `Look. Example: {"query": "x"}. The result is {a}.`); !reflect.DeepEqual(got, map[string]any{"query": "x"}) {
		t.Errorf("with an example of its own: got %v", got)
	}
	if got := toolschema.Table(fields); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := toolschema.Example(fields, "Look. Example: {"); !reflect.DeepEqual(got, map[string]any{"query": "…"}) {
		t.Errorf("got the example %v", got)
	}
	if got := toolschema.Table(toolschema.Fields(json.RawMessage(`{"type":"object"}`))); got != "  none\n" {
		t.Errorf("without fields: got %q", got)
	}
}
