package folder

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Branch is the branch of git that a folder is on, the beginning of a commit
// where it is on none, "" where there is no repository. It reads no more than the
// few bytes in which git keeps that, and starts no program.
func Branch(folder string) string {
	for {
		head, found := gitHead(filepath.Join(folder, ".git"))
		if found {
			if name, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
				return name
			}
			const shown = 8 // digits of a commit
			return head[:min(len(head), shown)]
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

// gitHead reads the HEAD of a repository; in a worktree a file leads there.
func gitHead(path string) (head string, found bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		link, ok := strings.CutPrefix(firstLine(path), "gitdir: ")
		if !ok {
			return "", false
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	head = firstLine(filepath.Join(path, "HEAD"))
	return head, head != ""
}

// firstLine is the first line of a short file, "" where it cannot be read.
func firstLine(path string) string {
	const most = 4096
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "" // a pipe would be waited for
	}
	file, err := os.Open(path) //nolint:gosec // where git keeps it
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
