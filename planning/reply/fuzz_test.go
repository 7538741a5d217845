package reply_test

import (
	"testing"
	"unicode/utf8"

	"replan/planning/plan"
	"replan/planning/reply"
)

// FuzzParseArgs checks that parsed args can be written and parsed again.
func FuzzParseArgs(f *testing.F) {
	for _, text := range []string{`{"path":"a"}`, "```json\n{'a': 1,}\n```", `{"a":{"b":[1,"x`, "<think>{}</think>{}", `call({"a":1e999})`, "{a: 1}", "{\"a\":\"\x00\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args, err := reply.ParseArgs(text)
		if err != nil {
			if err.Error() == "" || !utf8.ValidString(err.Error()) {
				t.Fatalf("the error is %q", err)
			}
			return
		}
		again, err := reply.ParseArgs(plan.CanonicalJSON(args))
		if err != nil || !plan.EqualValues(args, again) {
			t.Fatalf("%q was read as %v and read back as %v, %v", text, args, again, err)
		}
	})
}
