package data

import (
	"errors"
	"strings"

	"replan/internal/lazyregexp"
)

// settings is a file with a NAME=value in each line.
type settings struct {
	sections bool // [name] opens a section
	colons   bool // a colon may stand for =
}

var (
	setting = lazyregexp.New(`^(\s*(?:export\s+|ARG\s+|ENV\s+)?)([\w.\-/*]+)(\s*[:?]?=\s*|\s*:\s+)(.*)$`)
	remark  = lazyregexp.New(`\s+[#;].*$`)
)

func (f settings) slots(document string) ([]slot, error) {
	var all []slot
	at, section := 0, ""
	for line := range strings.Lines(document) {
		text := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(text)
		switch m := setting.FindStringSubmatch(text); {
		case f.sections && strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]"):
			section = strings.Trim(trimmed, "[]")
		case m == nil || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") || !strings.Contains(m[3], "=") && !f.colons:
		default:
			value := m[4]
			if length := closing(value); length > 0 {
				value = value[:length]
			} else {
				value = strings.TrimRight(remark.ReplaceAllString(value, ""), " \t")
			}
			start := at + len(m[1]) + len(m[2]) + len(m[3])
			all = append(all, slot{key: below(section, m[2]), start: start, end: start + len(value)})
		}
		at += len(line)
	}
	return all, nil
}

func (f settings) quote(old, text string) (string, error) {
	switch {
	case strings.Contains(text, "\n"):
		return "", errors.New("a value there is one line")
	case strings.HasPrefix(old, "'") && !strings.Contains(text, "'"):
		return "'" + text + "'", nil
	case strings.HasPrefix(old, `"`) || strings.HasPrefix(old, "'"), strings.ContainsAny(text, " #;$") && !f.sections && !f.colons:
		return quoted(text), nil
	}
	return text, nil
}

func (f settings) add(document, key, value string) (string, bool, error) {
	if f.sections || strings.Contains(key, ".") && !f.colons || !setting.MatchString(key+"=x") {
		return "", false, nil
	}
	value, err := f.quote("", value)
	if err != nil {
		return "", false, err
	}
	if document != "" && !strings.HasSuffix(document, "\n") {
		document += "\n"
	}
	return document + key + "=" + value + "\n", true, nil
}
