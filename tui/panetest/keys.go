package panetest

import (
	_ "embed"
	"encoding/json"

	"replan/tui/keymap"
)

// KeysFile holds the keys and words of every action. The test of tui that compares it with
// the tables of the parts writes it with -update.
//
//go:embed testdata/keys.json
var KeysFile []byte

// Keys returns the default keys of the whole screen. A part's sentences name keys of other
// parts, which its own tests cannot import.
func Keys() *keymap.Map {
	var sections []keymap.Section
	if err := json.Unmarshal(KeysFile, &sections); err != nil {
		panic(err)
	}
	return keymap.New(sections...)
}
