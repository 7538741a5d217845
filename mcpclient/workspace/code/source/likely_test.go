package source_test

import (
	"testing"

	"replan/mcpclient/workspace/code/source"
)

func TestLineThatSeemsToDeclareANameComesFirst(t *testing.T) {
	for text, want := range map[string]int{
		"":                                    0,
		"# Sign\nSigner()\nclass Signer:\n":   3,
		"Signer()\n":                          1,
		"MySigner\n\nfn Signer_x\nSigner = 1": 4,
		"export interface Signer {":           1,
	} {
		if got, line, _ := source.LikelyDeclaration([]byte(text), "Signer"); got != want || (got > 0) != (line != "") {
			t.Errorf("%q: got line %d %q, want %d", text, got, line, want)
		}
	}
}
