package source_test

import (
	"slices"
	"testing"

	"replan/mcpclient/workspace/code/source"
)

func TestNamesOfFunctionsMayBeReservedElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"a.rs":  {"struct P;\n\nimpl P {\n    pub fn new() -> P { P }\n    fn default(&self) { if self.of() { return; } }\n    fn of(&self) -> bool { true }\n}\n\nfn delete() {}\n", []string{"P", "P.new", "P.default", "P.of", "delete"}},
		"a.php": {"<?php\nclass Q {\n    public function delete($x) { if ($x) { return new Q(); } }\n    function new() {}\n}\n", []string{"Q", "Q.delete", "Q.new"}},
		"a.ts":  {"class M {\n  delete(k: string) {\n    if (k) { return new M(); }\n  }\n  static of() {}\n  async catch(): void {}\n}\n\ninterface I {\n  new (k: string): I;\n  default(): void;\n}\n", []string{"M", "M.delete", "M.of", "M.catch", "I", "I.default"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := source.OutlineOf(t.Context(), name, c.src)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range o.Symbols {
				got = append(got, s.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
