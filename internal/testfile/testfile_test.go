package testfile_test

import (
	"testing"

	"replan/internal/testfile"
)

func TestTestFilesMatchTheirSources(t *testing.T) {
	for test, source := range map[string]string{
		"slug/slug_test.go": "slug/slug.go", "tests/test_store.py": "app/store.py", "web/a.spec.ts": "web/a.ts", "web/A.test.tsx": "web/A.ts", "src/UserTest.java": "src/User.java",
	} {
		if !testfile.Is(test) || !testfile.Tests(test, source) || testfile.Is(source) || testfile.Tests(test, "other.go") {
			t.Errorf("%s is not recognized as the test of %s", test, source)
		}
	}
}
