package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"replan/internal/picture"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
	"replan/planning/prompt"
)

const (
	maxMentionable   = 5000     // files and folders that Mentionable lists
	maxMention       = 64 << 10 // maximum bytes of a file that Mention reads
	maxMentionFolder = 200      // maximum entries of a folder that Mention lists
)

// ErrMissing means the file does not exist.
var ErrMissing = errors.New("there is no such file")

// missingError describes what exists instead of a file.
type missingError struct{ error }

func (missingError) Is(target error) bool { return target == ErrMissing }

// mentions are files and folders that messages name.
type mentions struct{ tree *tree.Tree }

// Mentionable lists the files and folders of the workspace that the user can
// choose from, without those git ignores. Folders end with a slash. It reports
// whether the list is incomplete.
func (o *mentions) Mentionable(ctx context.Context) (paths []string, more bool, err error) {
	err = o.tree.Walk(ctx, ".", func(at string, d fs.DirEntry) error {
		switch {
		case at == ".":
			return nil
		case len(paths) == maxMentionable:
			more = true
			return fs.SkipAll
		case d.IsDir():
			at += "/"
		}
		paths = append(paths, at)
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("listing the workspace: %w", err)
	}
	return paths, more, nil
}

// Mention reads a file or lists a folder of the workspace that a message
// names. It cuts a long file at the end of a line. A picture is looked at, and
// stays in its file. The error wraps [ErrMissing] if there is no such file.
func (o *mentions) Mention(ctx context.Context, name string) (prompt.Mention, error) {
	m := prompt.Mention{Name: name}
	at, err := o.tree.Resolve(name)
	if err != nil {
		return m, err
	}
	info, err := o.tree.Root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, missingError{o.tree.NoFile(ctx, at)}
	case err != nil:
		return m, fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return o.mentionFolder(ctx, m, at)
	case !info.Mode().IsRegular():
		return m, fmt.Errorf("%s is not a regular file", at)
	}
	if picture.Named(at) {
		return o.mentionPicture(m, at)
	}
	data, whole, err := o.head(at)
	if err != nil {
		return m, errors.New(op.Sentence(fmt.Errorf("reading %s: %w", at, err)))
	}
	m.Bytes = max(whole, len(data))
	if m.Cut = m.Bytes > len(data); m.Cut {
		data = wholeLines(data)
	}
	if !tree.IsText(data) {
		return m, fmt.Errorf("%s is not UTF-8 text", at)
	}
	m.Text = string(data)
	return m, nil
}

// mentionPicture looks at a picture.
func (o *mentions) mentionPicture(m prompt.Mention, at string) (prompt.Mention, error) {
	f, err := o.tree.Root.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return m, errors.New(op.Sentence(fmt.Errorf("reading %s: %w", at, err)))
	}
	defer func() { _ = f.Close() }() // opened only for reading
	found, err := picture.In(f, o.tree.OnDisk(at))
	if err != nil {
		return m, fmt.Errorf("looking at %s: %w", at, err)
	}
	return MentionOf(m.Name, found), nil
}

// MentionOf returns the mention of a picture by a name.
func MentionOf(name string, p picture.File) prompt.Mention {
	kept := plan.Attachment{File: p.Path, Type: p.Type, Bytes: p.Bytes, SHA256: p.SHA256}
	return prompt.Mention{Name: name, Bytes: p.Bytes, Picture: &prompt.Picture{Attachment: kept, Width: p.Width, Height: p.Height}}
}

// head reads the beginning of a file and returns the file's full length.
func (o *mentions) head(at string) (data []byte, whole int, err error) {
	f, err := o.tree.Root.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // opened only for reading
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err = io.ReadAll(io.LimitReader(f, maxMention))
	return data, int(info.Size()), err
}

// wholeLines drops an incomplete line at the end. If there is only one long
// line, it drops an incomplete character instead.
func wholeLines(data []byte) []byte {
	if at := strings.LastIndexByte(string(data), '\n'); at >= 0 {
		return data[:at+1]
	}
	for n := 0; n < utf8.UTFMax && len(data) > 0 && !utf8.Valid(data[max(len(data)-utf8.UTFMax, 0):]); n++ {
		data = data[:len(data)-1]
	}
	return data
}

// mentionFolder lists the contents of a folder, one entry per line.
func (o *mentions) mentionFolder(ctx context.Context, m prompt.Mention, start string) (prompt.Mention, error) {
	m.Folder = true
	var b strings.Builder
	n := 0
	err := o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
		if at == start {
			return nil
		}
		line := at
		if d.IsDir() {
			line += "/"
		}
		if n++; n > maxMentionFolder {
			m.Cut = true
		} else {
			b.WriteString(line + "\n")
		}
		m.Bytes += len(line) + 1
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return m, fmt.Errorf("listing %s: %w", start, err)
	}
	m.Text = b.String()
	return m, nil
}
