/// A model document that can't be accepted, with all its problems.
public struct ModelDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of problems reported for one document.
    public static let maximumProblemCount = 100

    /// One problem in the document.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The class with the problem, or nil if it isn't in a class.
        public let className: String?
        /// The property with the problem, or nil if it isn't in a property.
        public let property: String?
        /// What was found and what was expected.
        let reason: Wording
        /// The known name that is most similar to an unknown one, or nil.
        public let hint: String?

        /// One that has no translation.
        public init(className: String? = nil, property: String? = nil, message: String, hint: String? = nil) {
            self.init(className: className, property: property, reason: Wording(untranslated: message), hint: hint)
        }

        init(className: String? = nil, property: String? = nil, reason: Wording, hint: String? = nil) {
            self.className = className
            self.property = property
            self.reason = reason
            self.hint = hint
        }

        /// What was found and what was expected, in English.
        public var message: String { reason.description }

        /// The whole, with place and hint.
        public var wording: Wording {
            let place = [className, property].compactMap(\.self).joined(separator: ".")
            let text = place.isEmpty ? reason : Wording(pattern: "{0}: {1}", values: [.text(place), .wording(reason)])
            guard let hint else { return text }
            let question = Wording("Did you mean '\(hint)'?")
            return Wording(pattern: "{0} {1}", values: [.wording(text), .wording(question)])
        }

        public var description: String { wording.description }
    }

    /// From one to ``maximumProblemCount`` problems.
    public let problems: [Problem]
    /// Whether a newer version wrote the document, so that updating this program helps.
    public let isNewerFormat: Bool

    public init(problems: [Problem], isNewerFormat: Bool = false) {
        self.problems = Array(problems.prefix(Self.maximumProblemCount))
        self.isNewerFormat = isNewerFormat
    }

    init(_ message: String, isNewerFormat: Bool = false) {
        self.init(problems: [Problem(message: message)], isNewerFormat: isNewerFormat)
    }

    init(_ reason: Wording, isNewerFormat: Bool = false) {
        self.init(problems: [Problem(reason: reason)], isNewerFormat: isNewerFormat)
    }

    public var description: String {
        problems.count == 1 ? "\(problems[0])" : problems.map { "- \($0)" }.joined(separator: "\n")
    }
}
