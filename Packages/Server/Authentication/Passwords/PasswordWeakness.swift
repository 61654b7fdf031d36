import TomboloLocalization

/// Why attackers would try a password early, whatever its length.
///
/// NIST SP 800-63B demands that new passwords are compared with a list of "commonly used, expected, or compromised"
/// ones: repetitive or sequential characters, and words from the context such as the user's name (section 5.1.1.2 of
/// revision 3, 3.1.1.2 of revision 4). It rules out demands for certain kinds of characters; there are none here.
enum PasswordWeakness: Hashable, Sendable, CaseIterable {
    /// One of ``CommonPasswords``, possibly surrounded by digits and punctuation, or with some in place of letters:
    /// `P@ssw0rd1!`.
    case common
    /// The owner's address or name with hardly anything else.
    case owner
    /// A few series such as `1234`, `qwerty` or `aaaa`.
    case series
    /// A repetition of fewer characters than a password needs.
    case repetition

    /// Shorter names are part of many words.
    private static let minimumNameLength = 3
    /// How many letters a password needs besides the owner's name.
    private static let minimumOtherLetters = 4
    /// This many consecutive characters are a series, which is as easy to guess as one character.
    private static let minimumSeriesLength = 3
    /// How many series and other characters a password needs.
    private static let minimumParts = 4

    /// - Returns: nil for a password that isn't weak.
    static func of(_ password: String, owner: PasswordOwner) -> PasswordWeakness? {
        if isCommon(password) { return .common }
        if isOwner(password, owner) { return .owner }
        if parts(password) < minimumParts { return .series }
        return isRepetition(password) ? .repetition : nil
    }

    /// What is wrong and what to do, as a continuation of "This password cannot be used: ".
    var reason: String {
        let problem =
            switch self {
            case .common:
                localized(
                    "it is one of the most common passwords, or close to one, and among the first that attackers try."
                )
            case .owner:
                localized(
                    "it is little more than your e-mail address or name, and among the first that attackers try.")
            case .series:
                localized(
                    "it is made of sequences such as 1234, qwerty or aaaa, and among the first that attackers try.")
            case .repetition: localized("it repeats a few characters, and is among the first that attackers try.")
            }
        let advice = localized("Choose one that only you would think of, such as four unrelated words.")
        return "\(problem) \(advice)"
    }

    // MARK: Each of them

    private static func isCommon(_ password: String) -> Bool {
        let whole = password.lowercased()
        let inner = whole.drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed()
        return [whole, String(inner)].contains { text in
            CommonPasswords.all.contains(letters(text)) || CommonPasswords.all.contains(letters(plain(text)))
        }
    }

    private static func isOwner(_ password: String, _ owner: PasswordOwner) -> Bool {
        let names = [owner.email, String(owner.email.prefix { $0 != "@" }), owner.name].map(letters)
        let text = letters(password)
        let rest = names.filter { $0.count >= minimumNameLength }.sorted { $0.count > $1.count }
            .reduce(text) { $0.replacing($1, with: "") }
        return rest != text && rest.count(where: \.isLetter) < minimumOtherLetters
    }

    /// How many series and other characters a password consists of.
    private static func parts(_ password: String) -> Int {
        var rest = Array(password.lowercased())[...]
        var count = 0
        while !rest.isEmpty {
            let length = seriesLength(rest)
            rest = rest.dropFirst(length < minimumSeriesLength ? 1 : length)
            count += 1
        }
        return count
    }

    /// How many characters at the beginning are the same, or consecutive in one direction.
    private static func seriesLength(_ characters: ArraySlice<Character>) -> Int {
        let pairs = zip(characters, characters.dropFirst())
        let lengths = [
            pairs.prefix { $0 == $1 }, pairs.prefix { neighbours.contains([$0, $1]) },
            pairs.prefix { neighbours.contains([$1, $0]) },
        ].map(\.count)
        return 1 + (lengths.max() ?? 0)
    }

    /// Consecutive characters in the alphabet, in numbers, and on keyboards: QWERTY, QWERTZ and AZERTY.
    private static let neighbours: Set<[Character]> = Set(
        [
            "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm",
            "azertyuiop", "qsdfghjklm", "wxcvbn",
        ].flatMap { row in zip(row, row.dropFirst()).map { [$0, $1] } })

    private static func isRepetition(_ password: String) -> Bool {
        let characters = Array(password.lowercased())
        return (1..<AccountRegistry.minimumPasswordLength).contains { length in
            2 * length <= characters.count
                && characters.indices.dropFirst(length).allSatisfy { characters[$0] == characters[$0 - length] }
        }
    }

    // MARK: What is compared

    /// Letters in lower case, and digits.
    private static func letters(_ text: String) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// Replaces the characters that people use in place of letters by those letters.
    private static func plain(_ text: String) -> String {
        String(text.map { substitutes[$0] ?? $0 })
    }

    private static let substitutes: [Character: Character] = [
        "@": "a", "4": "a", "3": "e", "1": "i", "!": "i", "0": "o", "$": "s", "5": "s", "7": "t",
    ]
}
