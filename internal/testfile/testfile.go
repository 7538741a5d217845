package testfile

import (
	"path"
	"strings"
)

// Is reports whether the name of a file says that it holds tests.
func Is(name string) bool {
	_, is := Tested(name)
	return is
}

// Tested returns the name, without its extension, of the file that a test file
// tests: slug for slug_test.go, test_slug.py and slug.spec.ts. It reports whether
// the file is a test file.
func Tested(name string) (stem string, is bool) {
	base := path.Base(name)
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

// Tests reports whether the name of a test file says that it tests a source file.
func Tests(test, source string) bool {
	stem, is := Tested(test)
	base, ext := path.Base(source), path.Ext(source)
	same := strings.TrimSuffix(path.Ext(test), "x") == strings.TrimSuffix(ext, "x") // ts and tsx
	return is && same && strings.EqualFold(stem, strings.TrimSuffix(base, ext))
}

// Of names a new test file for a source file; "" if the language is unknown.
func Of(source string) string {
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
