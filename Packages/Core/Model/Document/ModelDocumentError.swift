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
        public let message: String
        /// The known name that is most similar to an unknown one, or nil.
        public let hint: String?

        public init(className: String? = nil, property: String? = nil, message: String, hint: String? = nil) {
            self.className = className
            self.property = property
            self.message = message
            self.hint = hint
        }

        public var description: String {
            let place = [className, property].compactMap(\.self).joined(separator: ".")
            let text = place.isEmpty ? message : "\(place): \(message)"
            return hint.map { "\(text) Did you mean '\($0)'?" } ?? text
        }
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

    public var description: String {
        problems.count == 1 ? "\(problems[0])" : problems.map { "- \($0)" }.joined(separator: "\n")
    }
}
