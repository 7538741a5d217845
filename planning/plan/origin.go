package plan

import (
	"strconv"
	"strings"
)

// origin records where a plan differs from its source file, so that a fault of the
// plan is reported at its place in the file.
type origin struct {
	moved    map[string]string // JSON Pointers into the plan and into the file, where they differ
	nameless map[int]bool      // positions of the steps without a readable index of their own
	twice    []string          // JSON Pointers to duplicate names
}

// move records different places of one value in the plan and in the file.
func (o *origin) move(inPlan, inFile string) {
	if o.moved == nil {
		o.moved = make(map[string]string)
	}
	o.moved[inPlan] = inFile
}

// unnamed records a stand-in for the index of the step at position i.
func (o *origin) unnamed(i int) {
	if o.nameless == nil {
		o.nameless = make(map[int]bool)
	}
	o.nameless[i] = true
}

// place returns where in the file a fault of the plan lies.
func (o *origin) place(f Fault) string {
	if len(o.moved) == 0 {
		return f.Path
	}
	for at := f.Path; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if inFile, ok := o.moved[at]; ok {
			return inFile + f.Path[len(at):]
		}
	}
	switch f.Code { // of the step itself
	case CodeMissingTool: // the object without the field is the call
		return strings.TrimSuffix(o.at(f.Path+"/tool", f.Path), "/name")
	case CodeBadArgs:
		return strings.TrimSuffix(o.at(f.Path+"/args", f.Path), "/args")
	}
	return f.Path
}

// at returns the place in the file of a place in the plan, or otherwise if it did
// not move.
func (o *origin) at(inPlan, otherwise string) string {
	if inFile, ok := o.moved[inPlan]; ok {
		return inFile
	}
	return otherwise
}

// duplicates returns a fault for each duplicate name of an object.
func (o *origin) duplicates(p Plan) []Fault {
	var faults []Fault
	reported := make(map[string]bool, len(o.twice))
	for _, path := range o.twice {
		if reported[path] {
			continue
		}
		reported[path] = true
		step := ""
		if tokens := strings.SplitN(path, "/", 4); len(tokens) > 3 && tokens[1] == "steps" {
			if i, err := strconv.Atoi(tokens[2]); err == nil && 0 <= i && i < len(p.Steps) {
				step = o.name(p, i)
			}
		}
		name := pointerWords.Replace(path[strings.LastIndexByte(path, '/')+1:])
		faults = append(faults, Fault{
			Code: CodeDuplicateKey, Path: path, Step: step,
			Message: "the field " + strconv.Quote(name) + " occurs more than once in its object, and readers may see another one than replan: keep one",
		})
	}
	return faults
}

// name is the name of the step at position i: its index, or its position from 1 if
// it has none of its own.
func (o *origin) name(p Plan, i int) string {
	if o.nameless[i] {
		return strconv.Itoa(i + 1)
	}
	return p.Steps[i].Index
}

// pointerWords takes the escapes off a token of a JSON Pointer.
var pointerWords = strings.NewReplacer("~1", "/", "~0", "~")
