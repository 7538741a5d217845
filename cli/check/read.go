package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"replan/agent/store"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/planning/plan"
)

// Plan is a plan named on the command line.
type Plan struct {
	Data   []byte // in plan file format
	Stored bool   // given by the id of a stored plan
	Call   bool   // of a single tool: its args are complete, and its name means one tool of all servers
}

// Read reads the named plan: a file, - for standard input, or the id of a
// stored plan.
func Read(a *app.App, name string) (Plan, error) {
	if !isFile(name) {
		p, err := a.Store().LoadPlan(name)
		if _, unknown := errors.AsType[*store.NotFoundError](err); unknown {
			err = fmt.Errorf("%w, and no file of that name", err)
		}
		if err != nil {
			return Plan{}, a.Out().Unopened(err)
		}
		data, err := plan.EncodeJSON(p)
		return Plan{Data: data, Stored: true}, err
	}
	data, err := ReadFile(a, name)
	named := Plan{Data: data}
	if plan, wrapped := Unwrap(data); wrapped {
		named.Data = plan
	}
	return named, err
}

// ReadFile returns the contents of a file, or of standard input for -, without
// comments and trailing commas.
func ReadFile(a *app.App, name string) (data []byte, err error) {
	switch {
	case name != "-":
		data, err = readPlanFile(name)
	case a.Chat() != nil:
		return nil, exit.Usage("there is no standard input in the chat: name a file")
	default:
		data, err = readLimited(a.IO().In)
	}
	if err != nil {
		return nil, exit.Usage("the plan cannot be read; name a file or - for standard input: %w", err)
	}
	data, _ = plan.Standard(data) // the check reports what is wrong
	return data, nil
}

// isFile reports whether a plan's name is a file, not an id: it looks like a
// path, or the file exists.
func isFile(name string) bool {
	if name == "-" || strings.ContainsRune(name, '/') || strings.ContainsRune(name, os.PathSeparator) || strings.HasSuffix(name, ".json") {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// Unwrap returns the plan nested in an object, as replan compose prints it.
func Unwrap(data []byte) (plan []byte, wrapped bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return nil, false
	}
	plan, wrapped = object["plan"]
	if _, isPlan := object["steps"]; isPlan || !wrapped || !bytes.HasPrefix(plan, []byte("{")) {
		return nil, false
	}
	return plan, true
}

// maxPlanFile is how many bytes a plan file may have. A device has no end.
const maxPlanFile = 64 << 20

func readPlanFile(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; pass what a program writes as -", name) // opening a pipe would wait for its writer
	}
	file, err := os.Open(name) //nolint:gosec // the user named it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readLimited(file)
}

func readLimited(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxPlanFile+1))
	if err == nil && len(data) > maxPlanFile {
		err = fmt.Errorf("it has more than %d MB", maxPlanFile>>20)
	}
	return data, err
}

// Variables are the definitions of --var, in order.
type Variables []string

// Into adds the variables to a plan and overrides its own. It returns an invalid
// plan unchanged, since the check reports what is wrong with it.
func (v Variables) Into(data []byte) ([]byte, error) {
	defined := map[string]any{}
	for _, given := range v {
		name, text, ok := strings.Cut(given, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, exit.Usage("--var takes NAME=VALUE, not %q", given)
		}
		value, err := plan.DecodeValue([]byte(text))
		if err != nil {
			value = text
		}
		defined[name] = value
	}
	if len(defined) == 0 {
		return data, nil
	}
	_, faults := plan.DecodePlan(data) // two fields of one name become one below
	if slices.ContainsFunc(faults, func(f plan.Fault) bool { return f.Code == plan.CodeDuplicateKey || f.Code == plan.CodeBadJSON }) {
		return data, nil // the check reports it with its position
	}
	read, err := plan.DecodeValue(data)
	object, ok := read.(map[string]any)
	if err != nil || !ok {
		return data, nil //nolint:nilerr // the check reports it with its position
	}
	switch own := object["variables"].(type) {
	case nil:
		object["variables"] = defined
	case map[string]any:
		maps.Copy(own, defined)
	default:
		return data, nil
	}
	return plan.EncodeJSON(object)
}
