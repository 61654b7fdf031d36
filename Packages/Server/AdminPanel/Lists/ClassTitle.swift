import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The panel's names for classes, properties and objects. They are derived from the names in the model, or taken from
/// the catalogue of the page's language.
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

    /// A service of a permission matrix, within a sentence: `speakerContacts` → `speaker contacts`. Catalogues list it
    /// under its name in the rules.
    static func service(_ name: String) -> String {
        let title = localizedName(name)
        return title == name ? inSentence(englishWords(name)) : title
    }

    /// A title within a sentence: `Role assignments` → `role assignments`; `FAQ entries` stays as it is.
    static func inSentence(_ title: String) -> String {
        let isAcronym = title.dropFirst().first?.isUppercase ?? false
        let lowers = MessageCatalogue.current?.language.lowersNouns ?? true
        return isAcronym || !lowers ? title : title.prefix(1).lowercased() + title.dropFirst()
    }

    /// The property whose text is used as an object's title: one with a usual name, or the first required text.
    /// - Returns: nil if the caller can't see any.
    static func field(of type: ResourceType, _ view: CallerView) -> ResourceField? {
        view.titleField(of: type)
    }
}

/// Formats numbers for people.
enum PanelNumber {
    /// The text of a number, or `many` if it couldn't be counted in time.
    static func text(_ number: Int?, limit: Int) -> String {
        guard let number else { return localized("many") }
        return text(number, limit: limit)
    }

    /// `48,213`, or `10,000+` for a count that stopped at a limit. Other languages separate thousands with a narrow
    /// space (ISO 80000-1), which can't be mistaken for a decimal sign.
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
