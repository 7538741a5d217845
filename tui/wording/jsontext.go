package wording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ValueText formats a JSON value for display and reports whether the text has
// several lines. Short lists and objects stay on one line.
func ValueText(value any) (text string, multi bool) {
	const short = 60
	switch v := value.(type) {
	case placeholder:
		return string(v), false
	case string:
		if strings.Contains(v, "\n") {
			return v, true
		}
		return JSONText(v, ""), false
	case map[string]any, []any:
		if text = JSONText(v, ""); len(text) <= short {
			return text, false
		}
		return JSONText(v, "  "), true
	default:
		return JSONText(v, ""), false
	}
}

// JSONText formats value as JSON, indented unless indent is "".
func JSONText(value any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
