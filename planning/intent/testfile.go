package intent

import (
	"path"
	"strings"
)

// IsTestFile reports whether the name of a file says that it holds tests.
func IsTestFile(name string) bool {
	_, is := testedStem(path.Base(name))
	return is
}

// Tests reports whether the name of a test file says that it tests a file:
// slug_test.go tests slug.go, test_slug.py slug.py, slug.spec.ts slug.ts.
func Tests(test, source string) bool {
	stem, is := testedStem(path.Base(test))
	base := path.Base(source)
	ext := path.Ext(base)
	return is && strings.EqualFold(stem, strings.TrimSuffix(base, ext)) && sameLanguage(path.Ext(test), ext)
}

// testedStem is the name, without its ending, of the file that a test file tests.
func testedStem(base string) (stem string, is bool) {
	stem = strings.TrimSuffix(base, path.Ext(base))
	if rest, ok := strings.CutPrefix(stem, "test_"); ok && rest != "" {
		return rest, true
	}
	for _, ending := range []string{"_test", "-test", ".test", "_spec", "-spec", ".spec", "Test", "Tests", "Spec"} {
		if rest, ok := strings.CutSuffix(stem, ending); ok && rest != "" {
			return rest, true
		}
	}
	return stem, false
}

// sameLanguage reports whether two endings are of files that test each other.
func sameLanguage(a, b string) bool {
	return a == b || strings.TrimSuffix(a, "x") == strings.TrimSuffix(b, "x") // ts and tsx
}

// testFileOf names a new test file for a source file.
func testFileOf(source string) string {
	dir, base := path.Split(source)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch ext {
	case ".go", ".rs", ".c", ".cc", ".cpp", ".dart", ".ex", ".exs":
		return dir + stem + "_test" + ext
	case ".py":
		return dir + "test_" + base
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".vue":
		return dir + stem + ".test" + ext
	case ".rb":
		return dir + stem + "_spec" + ext
	case ".java", ".kt", ".cs", ".swift", ".php", ".scala":
		return dir + stem + "Test" + ext
	default:
		return ""
	}
}
