package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"replan/internal/wholefile"
	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

// mostUses is how far the uses of a tool are counted. When one exceeds it, all are
// halved, so that late runs count most.
const mostUses = 64

// experienceVersion is the version of the file format.
const experienceVersion = 1

// experience is what the runs in one folder have shown of tools: how often they were
// used, and what those without an output schema returned. It holds no values. It is
// safe for concurrent use, by several processes too.
type experience struct {
	file wholefile.JSON[experienceFile]
}

// experienceFile is the format of the file: most recently used tools last.
type experienceFile struct {
	V      int         `json:"v"`
	Folder string      `json:"folder"`
	Tools  []knownTool `json:"tools"`
}

type knownTool struct {
	Tool string          `json:"tool"`           // qualified
	Uses int             `json:"uses"`           // runs that called it
	Of   string          `json:"of,omitempty"`   // hash of the input schema that it had
	Seen json.RawMessage `json:"seen,omitempty"` // see [jsontype.Seen]
}

// openExperience returns what is known of tools in a folder. It reads and writes
// nothing yet.
func openExperience(dirs Dirs, folder string) *experience {
	return &experience{file: wholefile.JSON[experienceFile]{
		Path: filepath.Join(dirs.State, "tools", hashOf([]byte(folder))+".json"), What: "what runs have shown of tools",
		Empty: experienceFile{V: experienceVersion, Folder: folder}, Sound: experienceFile.sound,
	}}
}

// hashOf is a short hash that tells folders and schemas apart.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// recall returns a copy of a catalog with what is known of its tools.
func (e *experience) recall(c plan.Catalog) (plan.Catalog, error) {
	file, err := e.file.Read()
	if len(file.Tools) == 0 {
		return c, err
	}
	known := make(map[string]knownTool, len(file.Tools))
	for _, t := range file.Tools {
		known[t.Tool] = t
	}
	c = slices.Clone(c)
	for i, t := range c {
		k := known[t.QualifiedName()]
		c[i].Uses = k.Uses
		if len(t.OutputSchema) == 0 && k.Of == hashOf(t.InputSchema) {
			c[i].SeenSchema = k.Seen
		}
	}
	return c, err
}

// add records calls that returned results. A damaged file starts over, which is no
// error.
func (e *experience) add(c plan.Catalog, calls []plan.HistoryItem) error {
	_, err := e.file.Change(context.Background(), func(file *experienceFile) {
		counted := map[string]bool{}
		for _, call := range calls {
			if tool, err := c.Find(call.Tool); err == nil {
				file.add(tool, call.Result, !counted[tool.QualifiedName()])
				counted[tool.QualifiedName()] = true
			}
		}
		file.Tools = file.Tools[max(0, len(file.Tools)-maxTools):]
	})
	return err
}

// add records one call, which counts if it is the first of its run.
func (f *experienceFile) add(t plan.Tool, result any, counts bool) {
	known := knownTool{Tool: t.QualifiedName()}
	if at := slices.IndexFunc(f.Tools, func(k knownTool) bool { return k.Tool == known.Tool }); at >= 0 {
		known = f.Tools[at]
		f.Tools = slices.Delete(f.Tools, at, at+1)
	}
	if counts {
		known.Uses++
	}
	if len(t.OutputSchema) > 0 || t.Trusted { // operators declare what does not depend on a file's content
		known.Of, known.Seen = "", nil
	} else {
		if of := hashOf(t.InputSchema); of != known.Of {
			known.Of, known.Seen = of, nil // it is another tool now
		}
		known.Seen = jsontype.Seen(known.Seen, result)
	}
	if f.Tools = append(f.Tools, known); known.Uses > mostUses {
		for i := range f.Tools {
			f.Tools[i].Uses = (f.Tools[i].Uses + 1) / 2
		}
	}
}

// sound reports whether add can have written the file.
func (f experienceFile) sound() bool {
	return f.V == experienceVersion && len(f.Tools) <= maxTools && !slices.ContainsFunc(f.Tools, func(t knownTool) bool {
		return t.Tool == "" || t.Uses < 0 || t.Uses > mostUses
	})
}
