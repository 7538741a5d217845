package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// valueText is a JSON value as it is shown, and whether that takes several
// lines. Short lists and objects stay on one.
func valueText(value any) (text string, multi bool) {
	const short = 60
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "\n") {
			return v, true
		}
		return jsonText(v, ""), false
	case map[string]any, []any:
		if text = jsonText(v, ""); len(text) <= short {
			return text, false
		}
		return jsonText(v, "  "), true
	default:
		return jsonText(v, ""), false
	}
}

// jsonText is value as JSON, indented unless indent is "".
func jsonText(value any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
