package ollama

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestSecretsAreRedactedForModels(t *testing.T) {
	const key = "sk-abcdefghijklmnop1234"
	m := prompt.Message{
		Role: prompt.RoleAssistant, Content: "API_KEY=" + key,
		Calls: []reply.ToolUse{{Name: "proc.run", Args: map[string]any{"argv": []any{"curl", "-H", "Authorization: Bearer " + key}}}},
	}
	for name, got := range map[string]string{
		"model with tools": fmt.Sprint(message(m).Content, message(m).ToolCalls[0].Function.Arguments.ToMap()), "model without tools": plainMessage(m).Content,
	} {
		if strings.Contains(got, key) || !strings.Contains(got, "curl") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
