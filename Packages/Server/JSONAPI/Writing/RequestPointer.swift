import TomboloModel

/// A place in a request's body (RFC 6901).
package struct RequestPointer: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String = "") { self.description = description }

    /// A member of what is here, or an element by its number.
    package static func / (pointer: RequestPointer, name: String) -> RequestPointer {
        let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
        return RequestPointer("\(pointer.description)/\(escaped.shortened(toByteCount: 60))")
    }

    /// Whether it's another place, or below it.
    func isWithin(_ place: RequestPointer) -> Bool {
        description == place.description || description.hasPrefix("\(place)/")
    }
}
