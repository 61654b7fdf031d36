// Written by migration-tool from the database's tables. It's yours from now on: change it as you like,
// and export the document from it.
import RealmSwift

/// The table `address`.
class Address: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted(onDelete: .cascade) var customer: Customer?
    @Persisted var streetName: String
    @Persisted var streetName2: String?
    @Persisted var country: String = "DE"

    override class func propertiesMapping() -> [String: String] {
        [
            "customer": "customer_id",
            "streetName": "Street Name",
            "streetName2": "street_name_2",
        ]
    }
    override class func uniqueProperties() -> [[String]] { [["customer", "streetName"]] }
}

/// The table `category`.
class Category: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var parent: Category?
    @Persisted var `class`: Int = -1

    override class func propertiesMapping() -> [String: String] { ["parent": "parent_id"] }
    override class func uniqueProperties() -> [[String]] { [["name"]] }
}

/// The table `customer`.
class Customer: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var email: String
    @Persisted var fullName: String
    @Persisted var descriptionColumn: String?
    @Persisted var isActive: Bool = true
    @Persisted var rating: Double?
    @Persisted var createdAt: Date
    @Persisted var trashedAt: Date?

    override class func propertiesMapping() -> [String: String] { ["descriptionColumn": "description"] }
    override class func uniqueProperties() -> [[String]] { [["email"]] }
}

/// The table `order`.
class Order: Object {
    @Persisted(primaryKey: true) var orderId: UUID
    @Persisted var customer: Customer?
    @Persisted var status: String = "new"
    @Persisted var placedAt: Date
    @Persisted var total: Decimal128
}

/// The table `product`.
class Product: Object {
    @Persisted(primaryKey: true) var sku: String
    @Persisted var category: Category?
    @Persisted var name: String
    @Persisted var price: Decimal128
    @Persisted var weight: Decimal128?
    @Persisted(indexed: true) var stock: Int = 0
    @Persisted var photo: Data?
    @Persisted var note: String? = "it's \"new\""

    override class func propertiesMapping() -> [String: String] { ["category": "category_id"] }
}

/// The table `shipment`.
class Shipment: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var orderId: UUID
    @Persisted var lineNo: Int
    @Persisted var weight: Double?
}

/// The table `订单`.
class 订单: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var valueColumn: Int?
    @Persisted var column2nd: Int?

    override class func propertiesMapping() -> [String: String] { ["valueColumn": "value", "column2nd": "2nd"] }
}
