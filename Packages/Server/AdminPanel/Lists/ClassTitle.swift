import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// How classes, properties and objects are called in the panel, from their names in the model, and in the language of the page
/// if its catalogue has them.
enum ClassTitle {
    /// `RoleAssignment` → `Role assignments`
    static func plural(of type: ResourceType) -> String {
        words(type.name.hasSuffix("_") ? String(type.name.dropLast()) : type.name)
    }

    /// `RoleAssignment` → `Role assignment`
    static func singular(of type: ResourceType) -> String { words(type.item.name) }

    /// `startsAt` → `Starts at`, `websiteURL` → `Website URL`, `role_assignments` → `Role assignments`
    static func words(_ name: String) -> String { localizedName(englishWords(name)) }

    private static func englishWords(_ name: String) -> String {
        var words: [String] = []
        var word = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            if character == "_" || character == "-" || character == "." {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            let startsWord =
                character.isUppercase && !word.isEmpty
                && (!characters[index - 1].isUppercase
                    || (index + 1 < characters.count && characters[index + 1].isLowercase))
            if startsWord {
                words.append(word)
                word = ""
            }
            word.append(character)
        }
        if !word.isEmpty { words.append(word) }
        let plain = words.enumerated().map { index, word in
            let isAcronym = word.count > 1 && word.allSatisfy { $0.isUppercase || $0.isNumber }
            if isAcronym { return word }
            return index == 0 ? word.prefix(1).uppercased() + word.dropFirst() : word.lowercased()
        }
        return plain.isEmpty ? name : plain.joined(separator: " ")
    }

    /// A service of a permission matrix, within a sentence: `speakerContacts` → `speaker contacts`. Catalogues have it by the name
    /// that it has in the rules.
    static func service(_ name: String) -> String {
        let title = localizedName(name)
        return title == name ? inSentence(englishWords(name)) : title
    }

    /// A title within a sentence: `Role assignments` → `role assignments`, `FAQ entries` as it is.
    static func inSentence(_ title: String) -> String {
        let isAcronym = title.dropFirst().first?.isUppercase ?? false
        let lowers = MessageCatalogue.current?.language.lowersNouns ?? true
        return isAcronym || !lowers ? title : title.prefix(1).lowercased() + title.dropFirst()
    }

    /// The property whose text stands for an object: one of the usual names, or the first text that an object must have.
    /// - Returns: nil if the caller can see none.
    static func field(of type: ResourceType, _ view: CallerView) -> ResourceField? {
        view.titleField(of: type)
    }
}

/// Numbers for people.
enum PanelNumber {
    /// A number that may not have been counted in time.
    static func text(_ number: Int?, limit: Int) -> String {
        guard let number else { return localized("many") }
        return text(number, limit: limit)
    }

    /// `48,213`, or `10,000+` for a count that stopped at a limit. In other languages a narrow space parts thousands (ISO 80000-1),
    /// which nobody takes for a decimal sign.
    static func text(_ number: Int, limit: Int = .max) -> String {
        let separator: Character = MessageCatalogue.current == nil ? "," : "\u{202f}"
        let digits = String(min(number, limit).magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(separator) }
            text.append(digit)
        }
        return (number < 0 ? "−" : "") + text + (number > limit ? "+" : "")
    }
}
