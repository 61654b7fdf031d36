import Foundation
import Testing
import TomboloLocalization

@testable import AdminPanel
@testable import TomboloAuthentication

/// The translations that come with the panel and with mails are complete. `UPDATE_TRANSLATIONS=1 swift test --filter
/// TranslationTests` adds texts without a translation to the files in `Translations`, for people to fill in, and removes texts that
/// are no longer used.
@Suite struct TranslationTests {
    @Test("every text of the panel can be extracted from the sources, and is localized per request")
    func sources() throws {
        let sources = try MessageSources()
        #expect(sources.problems.isEmpty, "\(sources.problems.joined(separator: "\n"))")
        #expect(sources.messages.count > 500)
    }

    @Test("every text of mails can be extracted from the sources, and is localized per mail")
    func mails() throws {
        let sources = try MessageSources.ofMails()
        #expect(sources.problems.isEmpty, "\(sources.problems.joined(separator: "\n"))")
        #expect(sources.messages.count > 20)
    }

    @Test("every language that comes with the panel has all of its texts, and nothing else")
    func complete() throws {
        try Self.check(
            BuiltInTranslations.files, "BuiltInTranslations", in: "AdminPanel/Translations", MessageSources())
    }

    @Test("mails come in the panel's languages, with all of their texts, and nothing else")
    func completeMails() throws {
        try Self.check(
            MailTranslations.files, "MailTranslations", in: "Authentication/Mail/Translations", MessageSources.ofMails()
        )
        #expect(MailTranslations.builtIn.languages == PanelLanguages.builtIn.languages)
        for catalogue in PanelLanguages.builtIn.catalogues {
            let own = MailTranslations.builtIn[catalogue.language.tag]
            for message in try MessageSources.ofMails().messages {
                // The same English text has the same translation everywhere.
                #expect(catalogue.translation(of: message.text) == own?.translation(of: message.text))
            }
        }
    }

    /// - Parameters:
    ///   - files: the translation files by their names in the type.
    ///   - folder: the folder that contains them.
    private static func check(
        _ files: [String: String], _ type: String, in folder: String, _ sources: MessageSources
    ) throws {
        let folder = MessageSources.root.appending(path: "Packages/Server/\(folder)")
        for (name, text) in files {
            let file = try POFile(text)
            if ProcessInfo.processInfo.environment["UPDATE_TRANSLATIONS"] != nil {
                try TranslationFile(file, of: sources).write(to: folder, name: name, type: type)
                continue
            }
            var translated = Set(file.entries.filter(\.isTranslated).map { message($0) })
            // Names of an app's classes are up to the operator, except those that every app has.
            translated = translated.filter { $0.context != MessageCatalogue.nameContext }
            let wanted = Set(sources.messages)
            let missing = wanted.subtracting(translated).map(\.text).sorted()
            #expect(missing.isEmpty, "\(name) lacks \(missing.count): \(missing.prefix(20).joined(separator: " | "))")
            let stale = translated.subtracting(wanted).map(\.text).sorted()
            #expect(stale.isEmpty, "\(name) has what nothing shows: \(stale.prefix(20).joined(separator: " | "))")
            _ = try MessageCatalogue(file)
        }
    }

    private static func message(_ entry: POFile.Entry) -> MessageSources.Message {
        MessageSources.Message(context: entry.key.context, text: entry.key.text, plural: entry.plural)
    }
}

/// A translation file as written: in the order of the sources.
private struct TranslationFile {
    let text: String

    init(_ file: POFile, of sources: MessageSources) throws {
        var text = "msgid \"\"\nmsgstr \"\"\n"
        let names = ["Language", "X-Language-Name", "X-Nouns", "Plural-Forms", "Content-Type"]
        for name in names { if let value = file.header[name] { text += Self.quoted("\(name): \(value)\n") + "\n" } }
        let known = Dictionary(uniqueKeysWithValues: file.entries.map { ($0.key, $0) })
        let forms = try #require(file.header["Plural-Forms"]?.firstMatch(of: /nplurals=(\d+)/).flatMap { Int($0.1) })
        var place = ""
        func add(_ key: POFile.Key, plural: String?) {
            text += "\n"
            if let context = key.context { text += "msgctxt \(Self.quoted(context))\n" }
            text += "msgid \(Self.quoted(key.text))\n"
            let found = known[key].flatMap { ($0.plural == nil) == (plural == nil) ? $0.translations : nil }
            if let plural {
                text += "msgid_plural \(Self.quoted(plural))\n"
                for form in 0..<forms {
                    let known = found.flatMap { $0.indices.contains(form) ? $0[form] : nil }
                    text += "msgstr[\(form)] \(Self.quoted(known ?? ""))\n"
                }
            } else {
                text += "msgstr \(Self.quoted(found?.first ?? ""))\n"
            }
        }
        for message in sources.messages {
            if let found = sources.places[message], found != place {
                place = found
                text += "\n# \(place)\n"
            }
            add(POFile.Key(context: message.context, text: message.text), plural: message.plural)
        }
        let own = file.entries.filter { $0.key.context == MessageCatalogue.nameContext }
        if !own.isEmpty { text += "\n# Names of classes, properties and roles that every app has\n" }
        for entry in own { add(entry.key, plural: nil) }
        self.text = text
    }

    private static func quoted(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(plain)\""
    }

    /// Writes it to a file of its own, as a literal that needs no escapes.
    func write(to folder: URL, name: String, type: String) throws {
        let indented = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "        \($0)" }.joined(separator: "\n")
        let source = """
            extension \(type) {
                static let \(name) = #\"\"\"
            \(indented)
                    \"\"\"#
            }

            """
        let file = folder.appending(path: "\(name.prefix(1).uppercased())\(name.dropFirst()).swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
    }
}
