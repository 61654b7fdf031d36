public import Foundation
public import TomboloModel

/// Types of list elements other than objects.
public protocol ScalarElement: RealmCollectionValue {}

extension Bool: ScalarElement {}
extension Int: ScalarElement {}
extension Int8: ScalarElement {}
extension Int16: ScalarElement {}
extension Int32: ScalarElement {}
extension Int64: ScalarElement {}
extension Float: ScalarElement {}
extension Double: ScalarElement {}
extension Decimal128: ScalarElement {}
extension String: ScalarElement {}
extension Data: ScalarElement {}
extension Date: ScalarElement {}
extension UUID: ScalarElement {}
extension ObjectId: ScalarElement {}
extension Optional: ScalarElement where Wrapped: ScalarElement & OptionalPersistable {}
