package digest

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// unbuilt matches the end of a failure's name if it is a package, not a test.
var unbuilt = lazyregexp.New(` \((?:build|setup) failed\)$`)

func (f Failure) isBuild() bool { return unbuilt.MatchString(f.Name) }

// isPackage reports whether a package failed, none of its tests being named.
func (f Failure) isPackage() bool { return f.Name == "" || f.Name == f.Package }

// pkg is the package of the failure.
func (f Failure) pkg() string { return cmp.Or(f.Package, unbuilt.ReplaceAllString(f.Name, "")) }

// counts are how many packages do not build, how many others failed as a whole,
// and how many tests failed.
type counts struct{ builds, packages, tests int }

func counted(failures []Failure) counts {
	var n counts
	for _, f := range failures {
		switch {
		case f.isBuild():
			n.builds++
		case f.isPackage():
			n.packages++
		default:
			n.tests++
		}
	}
	return n
}

// words lists the counts with their verbs. of is the number of tests, 0 if
// unknown.
func (n counts) words(of int, fail, fails string) []string {
	var parts []string
	switch {
	case n.builds == 1:
		parts = append(parts, "1 package does not build")
	case n.builds > 1:
		parts = append(parts, english.Count(n.builds, "package")+" do not build")
	}
	for _, k := range []struct {
		n, of int
		what  string
	}{{n.packages, 0, "package"}, {n.tests, of, "test"}} {
		switch {
		case k.n > 0 && k.of > 0:
			parts = append(parts, fmt.Sprintf("%d of %s %s", k.n, english.Count(k.of, k.what), fail))
		case k.n == 1:
			parts = append(parts, "1 "+k.what+" "+fails)
		case k.n > 1:
			parts = append(parts, english.Count(k.n, k.what)+" "+fail)
		}
	}
	return parts
}

// broken is a fault that keeps packages from being built.
type broken struct {
	at, says string
	failures []Failure
}

var position = lazyregexp.New(`^\S+?:\d+(?::\d+)?: `)

// faults are the build faults, each once: one fault breaks all packages that need
// its own.
func faults(failures []Failure) []broken {
	var all []broken
	for _, f := range failures {
		if !f.isBuild() {
			continue
		}
		b := broken{says: position.ReplaceAllString(f.cause(), "")}
		if f.File != "" {
			b.at = f.File
			if f.Line > 0 {
				b.at = fmt.Sprintf("%s:%d", f.File, f.Line)
			}
		}
		i := slices.IndexFunc(all, func(o broken) bool { return o.at == b.at && o.says == b.says && b.at+b.says != "" })
		if i < 0 {
			i, all = len(all), append(all, b)
		}
		all[i].failures = append(all[i].failures, f)
	}
	return all
}

// words tell of the fault, and whom it keeps from being built.
func (b broken) words() string {
	var s strings.Builder
	s.WriteString("- does not build: ")
	own, others := b.own(), len(b.failures)
	switch {
	case b.at+b.says == "":
		return s.String() + span(b.failures[0].pkg()) + "\n"
	case b.says == "":
		s.WriteString(span(b.at))
	case b.at == "":
		s.WriteString(span(b.says))
	default:
		s.WriteString(span(b.at) + ": " + span(b.says))
	}
	s.WriteString("\n  in ")
	switch {
	case own == "":
		s.WriteString("what " + english.Count(others, "package") + " need, like " + span(b.failures[0].pkg()))
	case others > 1:
		s.WriteString(span(own) + " and " + english.Count(others-1, "package") + " that need it")
	default:
		s.WriteString(span(own))
	}
	s.WriteByte('\n')
	if message := b.failures[0].Message; strings.Count(strings.TrimSpace(message), "\n") > 0 {
		s.WriteString("\n" + fence("text", message, shownLines))
	}
	return s.String()
}

// own is the package with the fault: of the broken ones, the package with a name
// ending like the folder of the file.
func (b broken) own() string {
	if len(b.failures) == 1 || b.at == "" {
		return b.failures[0].pkg()
	}
	dir := path.Dir(b.failures[0].File)
	best, most := "", 0
	for _, f := range b.failures {
		name := f.pkg()
		if n := commonEnd(name, dir); n > most {
			best, most = name, n
		} else if dir == "." && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	return best
}

// commonEnd counts the common last parts of two paths.
func commonEnd(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}
