# What developers do daily. `just` lists it.

default:
    @just --list

# run the demo on the full screen
demo:
    go run . demo

# the README's test command
test:
    go test ./...

# all that must hold before a change lands
check:
    .ci/run

# the client of language servers against the real gopls, which is built first
lsp:
    REPLAN_GOPLS=build go test -count 1 ./mcpclient/workspace/code/...

# MCP servers and the client of the official SDK, which npm installs once
npm:
    go test -tags npm -count 1 -run OfficialSDK ./cli

# the linter alone
lint:
    golangci-lint run ./...

# write the golden files again; look at the difference before committing it
golden:
    go test ./tui/... ./planning/... ./cli -update

# record the README's animated picture from a run of the demo
record:
    go test ./cli -count 1 -run TestRecordDemo -record "$PWD/docs/demo.svg"

# record the replies of the models coder and half on the Ollama server at HOST again, after a change of prompts; takes up to ten minutes
record-replies HOST="127.0.0.1:11434":
    go test ./cli -count 1 -timeout 60m -v -run 'TestRecordedReplies|TestRecordedSecondAct' -record-replies {{HOST}} -update

# speed, each benchmark six times, to be compared with benchstat
bench:
    go test -run '^$' -bench . -count 6 ./planning/... ./agent ./agent/runner ./agent/store/journal ./tui/...

# format
fmt:
    golangci-lint fmt
