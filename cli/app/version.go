package app

import (
	"runtime/debug"
	"strings"
)

// Stamped returns a version with the commit of a development build, as semantic
// versions hold it. Whether files were changed is no part of it: a file beside the
// sources would be enough.
func Stamped(version, commit string) string {
	const shown = 12 // digits, as in versions of Go
	revision, _, _ := strings.Cut(commit, "-")
	if !strings.HasSuffix(version, "-dev") || revision == "" {
		return version
	}
	return version + "+" + revision[:min(shown, len(revision))]
}

// Commit returns the commit of the build, with "-dirty" if the sources were
// modified; "" if unknown.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info.Settings)
}

// commitOf returns the commit in the settings of a build.
func commitOf(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision != "" && values["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}
