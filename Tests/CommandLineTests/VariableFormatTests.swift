import Testing

@testable import widgetpush

@Suite("Variables for others") struct VariableFormatTests {
  @Test(arguments: [
    ("https://localhost:2197", "export A='https://localhost:2197'", "A=https://localhost:2197", "A=https://localhost:2197"),
    ("", "export A=''", "A=", "A="), ("a b#c", "export A='a b#c'", "A=a b#c", "A='a b#c'"),
    ("$HOME`x`\\", "export A='$HOME`x`\\'", "A=$HOME`x`\\", "A='$HOME`x`\\'"),
    ("it's", "export A='it'\\''s'", "A=it's", "A=\"it's\""),
    ("'\"$`\\", "export A=''\\''\"$`\\'", "A='\"$`\\", "A=\"'\\\"\\$\\`\\\\\""),
    ("a\nEND\nb", "export A='a\nEND\nb'", "A<<END_\na\nEND\nb\nEND_", "A=\"a\\nEND\\nb\""),
  ]) func eachFormatQuotesAsItsReadersUnquote(value: String, sh: String, github: String, dotenv: String) {
    #expect(VariableFormat.sh.line("A", value) == sh)
    #expect(VariableFormat.github.line("A", value) == github)
    #expect(VariableFormat.dotenv.line("A", value) == dotenv)
  }
}
