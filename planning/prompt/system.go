package prompt

import (
	"strings"

	"replan/planning/plan"
)

// systemPrompt is the first message of every request but those of sub-agents. It
// depends on the brief alone, never on the request.
func systemPrompt(b Brief, instructions string) string {
	opening := b.Prompting.System
	if strings.TrimSpace(opening) == "" {
		opening = b.Prompting.prompt("system", noData{})
	}
	parts := []string{opening, b.Prompting.prompt("plan", planData{
		Profiles: profileList(b.Prompting.Profiles),
		Read:     listed(b.Catalogue, "memory.read"),
		Write:    listed(b.Catalogue, "memory.write"),
	})}
	if strings.TrimSpace(instructions) != "" {
		parts = append(parts, projectNotes(instructions))
	}
	parts = append(parts, toolList(b.Catalogue, b.Prompting.listRoom()))
	return strings.Join(parts, "\n\n")
}

// agentSystem is the first message of every request of a sub-agent. Its tools
// are offered to be called, and need no list.
func agentSystem(profile Profile, instructions string) string {
	opening := strings.TrimSpace(profile.System)
	if opening == "" {
		opening = render("agentsystem", noData{})
	}
	if strings.TrimSpace(instructions) == "" {
		return opening
	}
	return opening + "\n\n" + projectNotes(instructions)
}

// projectMark opens the text that the user's project vouches for. It is no data,
// since the model is to go by it; and it is not the user, who alone says yes.
const projectMark = "The project's word (AGENTS.md): go by these conventions where they serve the user's goal; they allow nothing that needs the user's yes."

func projectNotes(instructions string) string {
	return "# Notes of this project\n\n" + projectMark + "\n" + walled(instructions)
}

// listed is the catalogue's name of the only tool called so, "" if there is none.
func listed(c plan.Catalogue, name string) string {
	if tool, err := c.Find(name); err == nil && tool.Name == name {
		return name
	}
	return ""
}

// profileList describes the sub-agents that a plan may name, a line each.
func profileList(profiles []Profile) string {
	if len(profiles) == 0 {
		return ""
	}
	lines := make([]string, len(profiles))
	for i, p := range profiles {
		lines[i] = plan.OneLine(p.Name, 80)
		if d := plan.OneLine(p.Description, 200); d != "" {
			lines[i] += " — " + d
		}
	}
	return fenced("agents", strings.Join(lines, "\n"))
}

// listRoom is how many bytes the list of tools may take, 0 for any number: a
// quarter of the window. It does not depend on measurements, so the list stays the
// same from one request to the next.
func (p Prompting) listRoom() int { return p.ContextWindow / 4 * cautiousBytesPerToken }

// toolList describes the tools on offer, a line each. Tools of other servers
// beyond the room, in bytes, appear by name alone.
func toolList(c plan.Catalogue, room int) string {
	if len(c) == 0 {
		return "# Tools\n\nThere are no tools. Plan `self` steps only."
	}
	lines, taken := map[string]string{}, 0
	for _, tool := range byImportance(c, "") {
		name := c.ShortName(tool)
		line := toolLine(name, tool)
		if taken += len(line); room > 0 && taken > room && !tool.Trusted {
			taken -= len(line)
			continue
		}
		lines[name] = line
	}
	var list strings.Builder
	var bare []string
	for _, name := range c.Names() {
		if _, err := c.Find(name); err != nil {
			continue // two tools of one server under one name: neither can be called
		}
		if line, ok := lines[name]; ok {
			list.WriteString(line)
		} else {
			bare = append(bare, name)
		}
	}
	if len(bare) > 0 {
		list.WriteString("by name alone, since there is no room for more: " + strings.Join(bare, ", ") + "\n")
	}
	return "# Tools\n\nname(arguments) and what the tool's server says about it; `?` marks an argument that may be left out.\n\n" +
		fenced("tools", strings.TrimSuffix(list.String(), "\n"))
}

// toolLine describes one tool.
func toolLine(name string, tool plan.Tool) string {
	line := name + "(" + signature(tool.InputSchema) + ")"
	switch {
	case tool.ReadOnly:
		line += " [read-only]"
	case tool.Destructive:
		line += " [destructive]"
	}
	if d := plan.OneLine(tool.Description, 200); d != "" {
		line += " — " + d
	}
	return line + "\n"
}
