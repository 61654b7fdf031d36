/// Hints that several classes show to people who enter values.
enum PropertyHint {
    static let isPublic = "Set by the server from the event. Anything entered is replaced."
    static let color = "Such as #3366CC."
}
