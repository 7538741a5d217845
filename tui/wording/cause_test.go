package wording_test

import (
	"testing"

	"replan/internal/untrusted"
	"replan/tui/wording"
)

func TestCauseOfPytestIsItsErrorAndNoFrame(t *testing.T) {
	const block = "_______________________ ERROR collecting tests/test_a.py _______________________\n" +
		"ImportError while importing test module 'tests/test_a.py'.\nTraceback:\n" +
		"/usr/lib/python3.11/importlib/__init__.py:126: in import_module\n    return _bootstrap._gcd_import(name)\n" +
		"tests/test_a.py:1: in <module>\n    import freezegun\nE   ModuleNotFoundError: No module named 'freezegun'\n"
	for failure, want := range map[string]string{
		"1 failed: tests/test_a.py\n\n" + block:                                                         "tests/test_a.py could not be loaded: ModuleNotFoundError: No module named 'freezegun'",
		"2 failed\n\n" + block + block + "!!!!!!!!! Interrupted: 2 errors during collection !!!!!!!!!":  "2 test files could not be loaded: ModuleNotFoundError: No module named 'freezegun'",
		"1 failed\n\ntests/test_a.py:4: in test_a\n    f()\nE   ValueError: bad":                        "ValueError: bad",
		"1 failed\n\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:2: AssertionError": "tests/test_a.py:2: AssertionError",
		"1 failed: TestX\na_test.go:3: got 1, want 2":                                                   "a_test.go:3: got 1, want 2",
		"the server said no": "the server said no",
	} {
		if got := wording.Cause(untrusted.Text(failure)); got != want {
			t.Errorf("%q: %q, want %q", failure, got, want)
		}
	}
}
