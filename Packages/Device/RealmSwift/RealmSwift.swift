// Realm's own module re-exports Foundation, so models can use Date, Data and UUID with this import alone.
@_exported public import Foundation
@_exported public import Tombolo
// What views use, and on Apple platforms the property wrappers on top of it.
@_exported public import TomboloObservables
#if canImport(SwiftUI)
    @_exported public import TomboloSwiftUI
#endif
