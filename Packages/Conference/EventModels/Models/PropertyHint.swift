/// Hints that several classes show to people who enter values.
enum PropertyHint {
    static let isPublic = "Kept up to date by the server, from the event: what is entered is replaced."
    static let color = "Such as #3366CC."
}
