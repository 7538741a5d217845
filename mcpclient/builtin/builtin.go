package builtin

import (
	"crypto/sha256"
	"encoding/hex"
)

// ServerName is the name under which the built-in server introduces itself.
const ServerName = "workspace"

// Keys of the `_meta` of a tool and of a request. They belong to this program
// and are sent to and believed of in-process servers only.
const (
	// MetaPreview in the `_meta` of a tools/call, set to true, asks for a dry application. The
	// call changes nothing and answers structured content {"diff": text, "hashes": {path: SHA-256
	// in hex}, "removes": text, "nothing": bool}. The hash of a file that does not exist is the
	// empty string. Nothing says that the call would have no effect.
	MetaPreview = "replan/preview"
	// MetaContents in the `_meta` of a tools/call beside MetaPreview, set to true, asks
	// for the text of the file, too: {"file": {"path", "hash", "before", "after"}}. It
	// is missing where the call changes other than one text file.
	MetaContents = "replan/contents"
	// MetaHashes in the `_meta` of a tools/call is {path: SHA-256 in hex}, what
	// the call was approved against. Where a file is no longer that, the call
	// changes nothing and fails. The empty string means that the file must not
	// exist.
	MetaHashes = "replan/hashes"
	// MetaCommand in the `_meta` of a tools/call is {"argv": [text], "dir": text}, the
	// process that the call was approved with. If the call would start another one, it
	// starts nothing and fails.
	MetaCommand = "replan/command"
	// MetaHold in the `_meta` of a tools/call, set to true, has a call refused
	// that would remove most of a file. The call then changes nothing, and its
	// answer has MetaRemoves in its `_meta`.
	MetaHold = "replan/hold"
	// MetaRemoves in the `_meta` of an answer says what the call would remove:
	// "removes 180 of 214 lines of a.go". A preview has it as "removes".
	MetaRemoves = "replan/removes"
	// MetaDiff in the `_meta` of a tools/call is the [DiffHash] of the diff that the call
	// was approved with. A file that is no longer what its hash says may be what an
	// earlier call of the same run left. If the diff is still the same, the call is made.
	MetaDiff = "replan/diff"
	// MetaOutdated in the `_meta` of a result that is an error says why what was
	// approved is no longer what the call would do. Nothing was changed.
	MetaOutdated = "replan/outdated"
	// MetaPaths in the `_meta` of a tools/call is {argument: path}, what rules judged in
	// place of the written paths because those lead there through links. It is {} if they
	// judged all as written. If one leads elsewhere, the call does nothing, and its answer
	// has the paths that it would use.
	MetaPaths = "replan/paths"
	// MetaRun in the `_meta` of a tools/call is the id of the run that the call belongs
	// to. What was there before its changes is kept under that name. See Backups in the
	// configuration of the workspace.
	MetaRun = "replan/run"
	// StatusField in a progress notification, set to true, says that its message is
	// what the call is doing now. Other messages are output.
	StatusField = "replan/status"
	// MetaPreviews in the `_meta` of a tool, set to true, says that the tool
	// understands MetaPreview and MetaHashes.
	MetaPreviews = "replan/previews"
	// MetaCommands is true in the `_meta` of a tool that answers MetaPreview with
	// {"command": {"argv": [text], "dir": text}}, the process that it would start. It also
	// understands MetaCommand. It understands no MetaHashes.
	MetaCommands = "replan/commands"
)

// RunsPrograms lists the operators whose effects are those of programs that they start.
// A push is not one: what it sends has left, whatever contains git.
var RunsPrograms = []string{"proc.run", "test.run", "test.lint", "vcs.commit", "vcs.branch"}

// DiffHash is the SHA-256 of a diff in hex, as [MetaDiff] has it.
func DiffHash(diff string) string {
	sum := sha256.Sum256([]byte(diff))
	return hex.EncodeToString(sum[:])
}
