import Testing
import TomboloLocalization

@Suite struct POFileTests {
    private static let header = """
        msgid ""
        msgstr ""
        "Language: de\\n"
        "X-Language-Name: Deutsch\\n"
        "Plural-Forms: nplurals=2; plural=(n != 1);\\n"


        """

    private static func problem(_ text: String) -> POError? {
        do {
            _ = try MessageCatalogue(POFile(text))
            return nil
        } catch {
            return error
        }
    }

    @Test("texts, contexts, plural forms, escapes and comments are read")
    func reading() throws {
        let file = try POFile(
            Self.header + #"""
                # by a translator
                #: Trash/TrashPages.swift
                msgid "Say \"{0}\"\n"
                msgstr ""
                "Sag "
                "\"{0}\"\n"

                msgctxt "verb"
                msgid "Open"
                msgstr "Öffnen"
                msgid "Open"
                msgstr "Offen"
                #, fuzzy
                msgid "Perhaps"
                msgstr "Vielleicht"

                msgid "Later"
                msgstr ""

                msgid "{0} row"
                msgid_plural "{0} rows"
                msgstr[0] "eine Zeile"
                msgstr[1] "{0} Zeilen"
                """#)
        #expect(file.header["Language"] == "de" && file.language == "de")
        let catalogue = try MessageCatalogue(file)
        #expect(catalogue.language.name == "Deutsch")
        #expect(catalogue.translation(of: "Say \"{0}\"\n") == "Sag \"{0}\"\n")
        #expect(catalogue.translation(of: "Open", context: "verb") == "Öffnen")
        #expect(catalogue.translation(of: "Open") == "Offen")
        #expect(catalogue.translation(of: "Perhaps") == nil && catalogue.translation(of: "Later") == nil)
        #expect(catalogue.translations(inContext: "verb") == ["Open": "Öffnen"])
        MessageCatalogue.$current.withValue(catalogue) {
            #expect(localized(1, one: "\(1) row", other: "\(1) rows") == "eine Zeile")
            #expect(localized(7, one: "\(7) row", other: "\(7) rows") == "7 Zeilen")
            #expect(localized("Nothing of \("it")") == "Nothing of it")
        }
    }

    @Test(
        "an invalid file is refused with its line and a reason",
        arguments: [
            ("msgid \"A\"", 7, "'msgstr' is missing"), ("msgstr \"A\"", 7, "'msgid' is missing"),
            ("msgid \"A\"\nmsgstr \"B", 8, "quotation marks"),
            ("msgid \"A\\q\"\nmsgstr \"\"", 7, "isn't an escape"),
            ("msgid \"A\"B\"\nmsgstr \"\"", 7, "needs a backslash"),
            ("msgid \"A\\\"\nmsgstr \"\"", 7, "ends within an escape"), ("word \"A\"", 7, "isn't one of msgctxt"),
            ("msgid \"A\"\nmsgstr \"B\"\nmsgid \"A\"\nmsgstr \"C\"", 9, "there twice"),
            ("msgid \"A\"\nmsgstr \"B\"\nmsgstr \"C\"", 9, "there twice"),
            ("msgid \"A {0}\"\nmsgstr \"B\"", 7, "lacks {0}"),
            ("msgid \"A\"\nmsgstr \"B {0}\"", 7, "doesn't have"),
            ("msgid \"A {{name}}\"\nmsgstr \"B {{{name}}}\"", 7, "doesn't have"),
            ("msgid \"A\"\nmsgstr \"B {{#x}}\"", 7, "doesn't have"),
            ("msgid \"<1>A</1> <2>B</2>\"\nmsgstr \"<1>A <2>B</1></2>\"", 7, "aren't nested"),
            ("msgid \"{0} row\"\nmsgid_plural \"{0} rows\"\nmsgstr[0] \"{0} Zeile\"", 7, "has 1 forms"),
        ])
    func problems(text: String, line: Int, reason: String) throws {
        let problem = try #require(Self.problem(Self.header + text), "\(text)")
        #expect(problem.line == line && problem.reason.contains(reason), "\(text): \(problem)")
    }

    @Test("a header needs a language, and plural forms that can be parsed")
    func headers() {
        #expect(
            Self.problem("msgid \"\"\nmsgstr \"Plural-Forms: nplurals=1; plural=0;\\n\"")?.reason.contains("Language")
                == true)
        for rule in ["nplurals=0; plural=0;", "nplurals=2; plural=n +;", "nplurals=2", "nplurals=2; plural=(n;"] {
            let text = "msgid \"\"\nmsgstr \"Language: xx\\nPlural-Forms: \(rule)\\n\""
            #expect(Self.problem(text)?.reason.contains("Plural-Forms") == true, "\(rule)")
        }
    }

    @Test("a file truncated anywhere is read or refused, and nothing worse")
    func truncated() {
        let text =
            Self.header
            + "msgctxt \"verb\"\nmsgid \"Open {0}\"\nmsgid_plural \"{0} open\"\nmsgstr[0] \"a {0}\"\nmsgstr[1] \"b {0}\"\n"
        for end in text.indices { _ = Self.problem(String(text[..<end])) }
    }

    @Test("if a language has two files, the second adds to the first and overrides it")
    func layers() throws {
        let first = try MessageCatalogue(POFile(Self.header + "msgid \"A\"\nmsgstr \"1\"\nmsgid \"B\"\nmsgstr \"2\"\n"))
        let second = try MessageCatalogue(
            POFile("msgid \"\"\nmsgstr \"Language: de\\n\"\nmsgid \"B\"\nmsgstr \"3\"\n"), over: first)
        #expect(second.language.name == "Deutsch")
        #expect(second.translation(of: "A") == "1" && second.translation(of: "B") == "3")
    }
}
