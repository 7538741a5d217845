package intent

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// listsDependencies reports whether a manifest lists what the project needs.
func listsDependencies(at string) bool {
	return slices.Contains([]string{"go.mod", "package.json", "Cargo.toml", "pyproject.toml", "requirements.txt"}, at)
}

// needed is a group of dependencies in a manifest.
type needed struct {
	group string // "" for those of the program itself
	names []string
}

// needs are the answers about what the manifests that were read list.
func (a answerer) needs() (parts []string) {
	for _, item := range a.of("fs.read") {
		at, _ := item.Args["path"].(string)
		groups, readable := neededBy(path.Base(at), item)
		switch {
		case !readable:
			parts = append(parts, code(at)+" is not valid.")
		case len(groups) == 0:
			parts = append(parts, code(at)+" lists no dependencies.")
		}
		for _, g := range groups {
			noun := "dependency"
			if g.group != "" {
				noun = g.group + " dependency"
			}
			parts = append(parts, english.Count(len(g.names), noun)+" in "+code(at)+":", rows(g.names, 0, noun, code))
		}
	}
	return parts
}

// goRequired matches a line of go.mod that requires a module.
var goRequired = lazyregexp.New(`^(?:require\s+)?([\w.-]+\.[\w.-]+/\S+|[\w.-]+\.[a-z]+)\s+(v\S+)(\s*// indirect)?`)

// pythonName matches the name at the start of a requirement.
var pythonName = lazyregexp.New(`^[A-Za-z0-9][\w.-]*`)

// neededBy reads a manifest that a step returned.
func neededBy(base string, item plan.HistoryItem) (groups []needed, readable bool) {
	text, _ := item.Result.(string)
	add := func(group string, names []string) {
		if len(names) > 0 {
			groups = append(groups, needed{group, names})
		}
	}
	switch base {
	case "go.mod":
		var direct, indirect []string
		for line := range strings.Lines(text) {
			if m := goRequired.FindStringSubmatch(strings.TrimSpace(line)); m != nil && m[3] != "" {
				indirect = append(indirect, m[1]+" "+m[2])
			} else if m != nil {
				direct = append(direct, m[1]+" "+m[2])
			}
		}
		add("", direct)
		add("indirect", indirect)
	case "requirements.txt":
		var names []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); pythonName.MatchString(line) {
				names = append(names, line)
			}
		}
		add("", names)
	case "package.json":
		fields := struct{ Dependencies, DevDependencies, PeerDependencies map[string]any }{}
		data, err := plan.EncodeJSON(item.Result)
		if text != "" {
			data, err = []byte(text), nil
		}
		if err != nil || json.Unmarshal(data, &fields) != nil {
			return nil, false
		}
		add("", versions(fields.Dependencies))
		add("development", versions(fields.DevDependencies))
		add("peer", versions(fields.PeerDependencies))
	default:
		return neededByTOML(text)
	}
	return groups, true
}

// neededByTOML reads Cargo.toml or pyproject.toml.
func neededByTOML(text string) (groups []needed, readable bool) {
	var fields struct {
		Dependencies      map[string]any `toml:"dependencies"`
		DevDependencies   map[string]any `toml:"dev-dependencies"`
		BuildDependencies map[string]any `toml:"build-dependencies"`
		Project           struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Groups map[string]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				Dependencies map[string]any `toml:"dependencies"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if toml.Unmarshal([]byte(text), &fields) != nil {
		return nil, false
	}
	add := func(group string, names []string) {
		if len(names) > 0 {
			groups = append(groups, needed{group, names})
		}
	}
	add("", slices.Concat(versions(fields.Dependencies), fields.Project.Dependencies, versions(fields.Tool.Poetry.Dependencies)))
	add("development", versions(fields.DevDependencies))
	add("build", versions(fields.BuildDependencies))
	for _, group := range sortedKeys(fields.Project.Optional) {
		add("optional "+group, fields.Project.Optional[group])
	}
	for _, group := range sortedKeys(fields.Groups) {
		var names []string
		list, _ := fields.Groups[group].([]any)
		for _, one := range list {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		add(group, names)
	}
	return groups, true
}

// versions lists the names of dependencies with their versions, where those are texts.
func versions(of map[string]any) []string {
	var all []string
	for _, name := range sortedKeys(of) {
		switch v := of[name].(type) {
		case string:
			all = append(all, strings.TrimSpace(name+" "+v))
		case map[string]any:
			version, _ := v["version"].(string)
			all = append(all, strings.TrimSpace(name+" "+version))
		default:
			all = append(all, name)
		}
	}
	return all
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
