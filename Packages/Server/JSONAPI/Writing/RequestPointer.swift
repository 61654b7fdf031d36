import TomboloModel

/// A place in a request's body: a JSON pointer (RFC 6901).
package struct RequestPointer: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String = "") { self.description = description }

    /// A member of this place, or an element by its number.
    package static func / (pointer: RequestPointer, name: String) -> RequestPointer {
        RequestPointer("\(pointer.description)/\(escaped(name).shortened(toByteCount: 60))")
    }

    private static func escaped(_ name: String) -> String {
        // Hardly any name contains one, and searching bytes is many times faster.
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    /// Whether this is another place, or below it.
    func isWithin(_ place: RequestPointer) -> Bool {
        description == place.description || description.hasPrefix("\(place)/")
    }
}
