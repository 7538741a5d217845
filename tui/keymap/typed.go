package keymap

// typed lists the actions that users type as commands of the chat, with the commands.
var typed = map[string]string{
	"help": "help", "/quit": "quit", "/exit": "quit", "/q": "quit", "/settings": "settings", "/config": "settings", "/keys": "help",
	"/theme": "themes", "/themes": "themes", "/model": "models", "/mcp": "servers", "/servers": "servers", "/stop": "run.stop",
	"/resume": "runs", "/history": "chat.history", "/palette": "palette", "/editor": "chat.editor",
}

// Typed returns the action that a line of the chat names as a command, "" if it names
// none.
func Typed(line string) string { return typed[line] }
