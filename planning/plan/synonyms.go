package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// synonyms are groups of names for the same argument, as tools declare them and models
// write them: in lower case, without signs. A name after a bar stands only for an
// argument that the tool requires.
var synonyms = []string{
	"path file filepath filename dir directory folder folderpath | name",
	"dir cwd workdir workingdirectory directory folder",
	"paths files filepaths",
	"query pattern search searchterm searchquery keyword regex regexp q | text string",
	"query symbol name",
	"symbol name function identifier functionname symbolname method class | type variable",
	"symbol oldname from",
	"newname to new",
	"name branch branchname",
	"text content contents filecontent filecontents body | fact note",
	"old oldstring oldstr oldtext oldcontent search find pattern",
	"new newstring newstr newtext newcontent replace replacement",
	"from source src oldpath | path file",
	"to destination dest dst target newpath newname",
	"message msg commitmessage | text title",
	"max limit count n number num maxresults maxcount numresults",
	"limit lines numlines maxlines",
	"offset start startline line fromline",
	"ref commit revision rev hash sha commithash",
	"run test testname name filter testfilter",
	"glob include filepattern fileglob files",
	"ignorecase caseinsensitive insensitive",
	"regex regexp isregex useregex",
	"context contextlines",
	"depth maxdepth",
	"recursive recurse",
	"all replaceall",
	"kind type action",
	"since after",
	"url uri link",
	"id planid",
	"allowfailure allowfailures",
	commandNames,
	shellNames,
}

const (
	commandNames = "argv args cmd command commandline" // a program and its arguments, as a list
	shellNames   = "shell script bash cmd command commandline"
)

// bareName is a name as synonyms write it: filePath and file_path are filepath.
func bareName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// sameArgument reports whether a name, written as synonyms are, stands for an argument
// of a tool.
func sameArgument(written, arg string, required bool) bool {
	return slices.ContainsFunc(synonyms, func(group string) bool {
		both, short, _ := strings.Cut(group, "|")
		names := strings.Fields(both)
		return slices.Contains(names, arg) && (slices.Contains(names, written) || required && slices.Contains(strings.Fields(short), written))
	})
}

// renamed returns args with names that the schema does not know under the one that
// they mean, see [Signature.Coerce]. It does not change args.
func (s *Signature) renamed(args map[string]any) (map[string]any, []Coercion) {
	if s == nil || len(s.names) == 0 {
		return args, nil
	}
	var all []Coercion
	take := func(name, as string, value any) {
		if len(all) == 0 {
			args = maps.Clone(args)
		}
		all = append(all, Coercion{Arg: JSONPointer("", name), From: args[name], To: value, Name: as})
		delete(args, name)
		args[as] = value
	}
	s.joinCommand(args, take)
	for again := true; again; {
		again = false
		for _, name := range s.unknownNames(args) {
			if as := s.resolveName(args, name); as != "" {
				value := args[name]
				if words, ok := s.commandWords(as, value); ok {
					value = words
				}
				take(name, as, value)
				again = true
			}
		}
	}
	return args, all
}

// joinCommand takes a program and the list of its arguments, given apart, as the one
// list that the schema knows.
func (s *Signature) joinCommand(args map[string]any, take func(name, as string, value any)) {
	rest, isList := args["args"].([]any)
	at := slices.IndexFunc(s.names, func(arg string) bool { return bareName(arg) == "argv" && s.takesList(arg) })
	if !isList || at < 0 || args[s.names[at]] != nil || slices.Contains(s.names, "args") {
		return
	}
	for _, name := range []string{"command", "cmd"} {
		if program, ok := args[name].(string); ok && !slices.Contains(s.names, name) {
			whole := append([]any{program}, rest...)
			take("args", s.names[at], whole)
			take(name, s.names[at], whole)
			return
		}
	}
}

// unknownNames lists the names in args that the schema does not list, sorted.
func (s *Signature) unknownNames(args map[string]any) []string {
	var names []string
	for name := range args {
		if _, known := slices.BinarySearch(s.names, name); !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// resolveName returns the one argument of the schema that a name can mean; "" if there is
// none, or more than one. It must not be given, and the schema must refuse args
// without it or with the unknown name.
func (s *Signature) resolveName(args map[string]any, name string) string {
	written := bareName(name)
	var same, close []string
	for _, arg := range s.names {
		required := slices.Contains(s.schema.Required, arg)
		if _, given := args[arg]; given || !required && s.schema.AdditionalProperties != false {
			continue
		}
		switch plain := bareName(arg); {
		case plain == written:
			same = append(same, arg)
		case sameArgument(written, plain, required):
			close = append(close, arg)
		}
	}
	if len(same) == 0 {
		same = close
	}
	if len(same) > 1 {
		same = slices.DeleteFunc(same, func(arg string) bool { return !s.completes(args, name, arg) })
	}
	if len(same) != 1 {
		return ""
	}
	return same[0]
}

// completes reports whether args lack nothing once a value goes by the name of an
// argument, which it fits.
func (s *Signature) completes(args map[string]any, name, arg string) bool {
	value := args[name]
	if words, ok := s.commandWords(arg, value); ok {
		value = words
	} else if text, ok := value.(string); ok && s.takesList(arg) || ok && slices.Contains(strings.Fields(shellNames), bareName(arg)) && isPlainCommand(text) {
		return false
	}
	if _, isList := value.([]any); isList && !s.takesList(arg) {
		return false
	}
	given := maps.Clone(args)
	delete(given, name)
	given[arg] = value
	return len(s.missing(given)) == 0
}

// takesList reports whether an argument is a list and no text.
func (s *Signature) takesList(arg string) bool {
	property := s.schema.Properties[arg]
	return property != nil && property.Types != nil && slices.Contains(property.Types.ToStrings(), "array") && !slices.Contains(property.Types.ToStrings(), "string")
}

// isPlainCommand reports whether a text is a command whose words need no shell.
func isPlainCommand(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && !strings.Contains(words[0], "=") && !strings.ContainsAny(text, "\"'`\\$|&;<>(){}[]*?~#!%^\n")
}

// commandWords splits a command that was written as text for a list of words, as a
// shell does.
func (s *Signature) commandWords(arg string, value any) (words []any, ok bool) {
	text, isText := value.(string)
	if !isText || !slices.Contains(strings.Fields(commandNames), bareName(arg)) || !s.takesList(arg) || !isPlainCommand(text) || json.Valid([]byte(text)) {
		return nil, false
	}
	for word := range strings.FieldsSeq(text) {
		words = append(words, word)
	}
	return words, true
}
