package git

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReadersAcceptAnyOutput(t *testing.T) {
	t.Parallel()
	pieces := []string{"# branch.ab", "# branch.head", "1 .M N... 1 2 3 4 5", "2 R", "u UU", "? ", ":100644 100644 1 2 M", ":", "1\t2\t", "-\t-\tx", "\x00", "\t"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "lines")
		data := strings.Join(lines, "\x00")
		(&statusResult{}).read(data, gitRepository{prefix: "in/"})
		(&diffResult{}).read(data)
	})
}
