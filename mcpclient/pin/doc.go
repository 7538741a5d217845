// Package pin remembers what MCP servers say of their tools. The texts of the
// first use are pinned. A text that changes later counts only after the user has
// accepted the difference.
//
// It imports internal/wholefile alone. Start with [Folder], then [Tool.Text].
package pin
