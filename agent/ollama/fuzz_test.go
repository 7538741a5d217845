package ollama_test

import (
	"encoding/json"
	"testing"

	"github.com/ollama/ollama/api"

	"replan/agent/ollama"
)

// Schemas come from untrusted servers. Ollama must be able to decode the
// parameters made of any schema, or it rejects the request.
func FuzzParametersDecodeOnServer(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/$defs/c","allOf":[{"$ref":"#"}]}},"$defs":{"c":{"anyOf":[{"$ref":"#/$defs/c"}],"items":[{}],"enum":[1]}}}`))
	f.Add([]byte(`{"oneOf":[{"required":["a"],"properties":{"b":true}}],"required":["a","a",1],"properties":{"a":{"type":["string",1]}}}`))
	f.Add([]byte(`{"properties":null,"allOf":[null,{"allOf":[]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sent, err := json.Marshal(ollama.Parameters(data))
		if err != nil {
			t.Fatal(err)
		}
		var read api.ToolFunctionParameters
		if err := json.Unmarshal(sent, &read); err != nil || read.Type != "object" || read.Properties == nil {
			t.Errorf("the server decodes %s as %+v, error %v", sent, read, err)
		}
	})
}
