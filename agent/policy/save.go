package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"replan/agent/event"
	"replan/internal/wholefile"
)

// Save inserts a rule into the configuration at path, before every other
// [[policy]], so that it matches first. All other bytes stay unchanged. It
// creates the file and its folder if they are missing.
func Save(path string, always event.Always) error {
	if err := save(path, always); err != nil {
		return fmt.Errorf("save the rule in %s: %w; the rule is: %s", path, err, always.Rule)
	}
	return nil
}

func save(path string, always event.Always) error {
	return wholefile.Edit(context.Background(), path, func(before []byte) ([]byte, error) { return Insert(before, always.Text) })
}

// Insert inserts the text of a [[policy]] block before the first one in a
// configuration, or at its end. It returns an error if that would change the
// configuration in any other way.
func Insert(config []byte, block string) ([]byte, error) {
	at, err := place(config)
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(config, []byte("\r\n")) {
		newline = "\r\n"
	}
	block = strings.ReplaceAll(strings.TrimRight(block, "\n"), "\n", newline) + newline
	before, after := config[:at], config[at:]
	switch {
	case len(after) > 0:
		block += newline
	case len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")):
		block = newline + newline + block
	case len(before) > 0:
		block = newline + block
	}
	out := slices.Concat(before, []byte(block), after)
	return out, added(config, out, block)
}

// place returns where the first [[policy]] starts, including the comments right
// above it, or the end if there is none.
func place(config []byte) (int, error) {
	var p unstable.Parser
	p.Reset(config)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.ArrayTable {
			continue
		}
		key := e.Key()
		if !key.Next() || string(key.Node().Data) != "policy" || !key.IsLast() {
			continue
		}
		at := bytes.LastIndexByte(config[:p.Shape(key.Node().Raw).Start.Offset], '\n') + 1
		for at > 0 {
			line := bytes.LastIndexByte(config[:at-1], '\n') + 1
			if !bytes.HasPrefix(bytes.TrimLeft(config[line:at], " \t"), []byte("#")) {
				break
			}
			at = line
		}
		return at, nil
	}
	if err := p.Error(); err != nil {
		return 0, fmt.Errorf("the file is no longer valid TOML: %w", err)
	}
	return len(config), nil
}

// added verifies that a configuration is unchanged except for the block, which is
// its first rule.
func added(before, after []byte, block string) error {
	var was, is, own map[string]any
	if err := errors.Join(toml.Unmarshal(before, &was), toml.Unmarshal(after, &is), toml.Unmarshal([]byte(block), &own)); err != nil {
		return fmt.Errorf("no [[policy]] can be added to the file (%w): add it yourself", err)
	}
	rules, _ := was["policy"].([]any)
	mine, _ := own["policy"].([]any)
	if was == nil {
		was = map[string]any{}
	}
	was["policy"] = slices.Concat(mine, rules)
	if !reflect.DeepEqual(was, is) {
		return errors.New("no [[policy]] can be inserted at the top of the file: add it yourself")
	}
	return nil
}
