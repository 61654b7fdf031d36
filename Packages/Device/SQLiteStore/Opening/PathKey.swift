internal import TomboloModel

/// The path of a file as a dictionary's key. Apple's file systems take names for one file that only look the same, such as
/// with `é` as one code point and as two, and so does Swift's `==`. Elsewhere files with such names are different ones, as
/// their bytes are.
package struct PathKey: Hashable, Sendable {
    private let path: String

    package init(_ path: String) { self.path = path }

    #if !canImport(Darwin)
        package static func == (left: PathKey, right: PathKey) -> Bool { left.path.hasBytes(of: right.path) }

        package func hash(into hasher: inout Hasher) {
            for byte in path.utf8 { hasher.combine(byte) }
        }
    #endif
}
