#if canImport(ObjectiveC)
    internal import Darwin
    internal import ObjectiveC
#endif

/// Finds all subclasses of a class in the running program, so that a Realm doesn't need a list of its classes.
///
/// On Apple platforms the Objective-C runtime lists every class. Elsewhere this type reads the metadata that the Swift
/// compiler puts into every binary for its own runtime, in layouts fixed by the Swift ABI
/// (<https://github.com/swiftlang/swift/blob/main/include/swift/ABI/Metadata.h>):
///
/// - `swift_enumerateAllMetadataSections` calls back for each loaded binary with its *metadata sections*:
///
///       offset  0  version       8  base address   16, 24  unused
///       offset 32  protocols    48  conformances   each a start and a length in bytes
///       offset 64  types: start and length of `swift5_type_metadata`
///
/// - that section holds a 4-byte *type record* for each type: an offset from the record itself to the type's
///   descriptor. Its lowest two bits say what the offset leads to: 0 the descriptor, 1 a pointer to it;
/// - a *class descriptor* begins with 4-byte words:
///
///       offset  0  flags: bits 0…4 kind (16 for a class), bit 7 generic
///       offset  4  parent   8  name
///       offset 12  access function, relative to this word
///       offset 16  fields
///       offset 20  superclass's name, relative to this word; 0 for none
///
/// - the *access function* takes a request (0: the complete type) and returns the type.
///
/// Generic classes are skipped, because they aren't types by themselves.
package enum ClassDiscovery {
    /// Whether the platform is supported.
    package static var isAvailable: Bool {
        #if canImport(ObjectiveC) || os(Linux)
            true
        #else
            false
        #endif
    }

    /// Every subclass of `base` in the program, in no particular order. Includes only classes from binaries that are
    /// already loaded.
    package static func subclasses(of base: AnyClass) -> [AnyClass] {
        #if canImport(ObjectiveC)
            subclassesByObjectiveC(of: base)
        #elseif os(Linux)
            subclassesByMetadata(of: base)
        #else
            []
        #endif
    }

    #if canImport(ObjectiveC)
        private static func subclassesByObjectiveC(of base: AnyClass) -> [AnyClass] {
            var count: UInt32 = 0
            guard let classes = objc_copyClassList(&count) else { return [] }
            defer { free(UnsafeMutableRawPointer(classes)) }
            return (0..<Int(count)).compactMap { position in
                let candidate: AnyClass = classes[position]
                // Compares only pointers: asking a class about itself would run code of unrelated classes.
                var ancestor: AnyClass? = class_getSuperclass(candidate)
                while let current = ancestor {
                    if current == base { return candidate }
                    ancestor = class_getSuperclass(current)
                }
                return nil
            }
        }
    #elseif os(Linux)
        private static func subclassesByMetadata(of base: AnyClass) -> [AnyClass] {
            var sections = Sections()
            withUnsafeMutablePointer(to: &sections) { context in
                enumerateAllMetadataSections(
                    { section, context in
                        guard let section, let context else { return true }
                        context.assumingMemoryBound(to: Sections.self).pointee.found.append(section)
                        return true
                    }, UnsafeMutableRawPointer(context))
            }
            var classes: [AnyClass] = []
            for section in sections.found {
                guard let start = section.load(fromByteOffset: 64, as: UnsafeRawPointer?.self) else { continue }
                let length = section.load(fromByteOffset: 72, as: Int.self)
                for offset in stride(from: 0, to: length, by: 4) {
                    guard let candidate = classType(ofRecord: start + offset) else { continue }
                    if candidate != base, isSubclass(candidate, of: base) { classes.append(candidate) }
                }
            }
            return classes
        }

        private struct Sections {
            var found: [UnsafeRawPointer] = []
        }

        private typealias SectionBody = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool
        private typealias AccessFunction = @convention(c) (UInt) -> UnsafeRawPointer?

        private static func classType(ofRecord record: UnsafeRawPointer) -> AnyClass? {
            let word = record.load(as: Int32.self)
            let target = record + Int(word & ~3)
            let descriptor: UnsafeRawPointer
            switch word & 3 {
            case 0: descriptor = target
            case 1:
                guard let pointer = target.load(as: UnsafeRawPointer?.self) else { return nil }
                descriptor = pointer
            default: return nil
            }
            let flags = descriptor.load(as: UInt32.self)
            let (isClass, isGeneric) = (flags & 0x1f == 16, flags & 0x80 != 0)
            guard isClass, !isGeneric, descriptor.load(fromByteOffset: 20, as: Int32.self) != 0 else { return nil }
            let access = descriptor.load(fromByteOffset: 12, as: Int32.self)
            guard access != 0 else { return nil }
            // The function has Swift's calling convention, but for one argument word and the first result word it's the
            // same as C's.
            let function = unsafeBitCast(descriptor + 12 + Int(access), to: AccessFunction.self)
            guard let type = function(0) else { return nil }
            return unsafeBitCast(type, to: Any.Type.self) as? AnyClass
        }

        private static func isSubclass(_ candidate: AnyClass, of base: AnyClass) -> Bool {
            var ancestor: AnyClass? = _getSuperclass(candidate)
            while let current = ancestor {
                if current == base { return true }
                ancestor = _getSuperclass(current)
            }
            return false
        }

        /// Exported by the Swift runtime, but not declared in any header that Swift can import.
        @_silgen_name("swift_enumerateAllMetadataSections")
        private static func enumerateAllMetadataSections(_ body: SectionBody, _ context: UnsafeMutableRawPointer?)
    #endif
}
