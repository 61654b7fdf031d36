// Realm's own module re-exports Foundation, so models can use Date, Data and UUID with this import alone.
@_exported public import Foundation
@_exported public import Tombolo
// The core of observable views, and on Apple platforms the property wrappers built on it.
@_exported public import TomboloObservables
#if canImport(SwiftUI)
    @_exported public import TomboloSwiftUI
#endif
