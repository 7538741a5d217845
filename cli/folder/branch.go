package folder

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Branch returns the git branch of a folder, the abbreviated commit if HEAD is
// detached, or "" outside a repository. It reads only git's few bytes for HEAD
// and starts no program.
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

// gitHead reads the HEAD of a repository; in a worktree, a file leads to it.
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

// firstLine returns the first line of a short file, "" if it cannot be read.
func firstLine(path string) string {
	line, _, _ := strings.Cut(string(head(path, 4096)), "\n")
	return strings.TrimSpace(line)
}

// head returns at most most bytes from the start of a regular file; nil if it
// cannot be read.
func head(path string, most int64) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // reading a pipe would block
	}
	file, err := os.Open(path) //nolint:gosec // of the workspace, or where git keeps it
	if err != nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return nil
	}
	return text
}
