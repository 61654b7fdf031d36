extension BuiltInTranslations {
    static let spanish = #"""
        msgid ""
        msgstr ""
        "Language: es\n"
        "X-Language-Name: Español\n"
        "Plural-Forms: nplurals=2; plural=(n != 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/AdminPanel/API/APIClassContent.swift

        msgid "writable"
        msgstr "editable"

        msgid "read only"
        msgstr "solo lectura"

        msgid "one of: {0}"
        msgstr "uno de: {0}"

        msgid "yes"
        msgstr "sí"

        msgid "no"
        msgstr "no"

        msgid "Read"
        msgstr "Leer"

        msgid "The version of a resource is in the response's ETag header and in meta.version."
        msgstr "La versión de un recurso está en la cabecera ETag de la respuesta y en meta.version."

        msgid "Filter and sort"
        msgstr "Filtrar y ordenar"

        msgid "Up to {0} filters, all of which must match. 'in' takes up to {1} values, separated by commas. Sort by up to {2} fields; a minus sorts in descending order."
        msgstr "Hasta {0} filtros, que deben cumplirse todos. Un «in» admite hasta {1} valores separados por comas. Se puede ordenar por hasta {2} campos; un signo menos ordena de forma descendente."

        msgid "Choose what is returned"
        msgstr "Elegir qué se envía"

        msgid "Up to {0} relationships to include, each up to {1} names deep, separated by dots, and up to {2} included resources."
        msgstr "Se pueden incluir hasta {0} relaciones, cada una con hasta {1} nombres de profundidad separados por puntos, y a través de ellas hasta {2} recursos."

        msgid "Pages"
        msgstr "Páginas"

        msgid "A page has {0} resources; you can ask for up to {1}. Take the cursor from links.next of the previous page: cursors have no limit. A page number can skip up to {2} resources."
        msgstr "Una página tiene {0} recursos, salvo que pida hasta {1}. Tome un cursor de links.next de la página anterior: los cursores no tienen límite. Antes de una página pedida por su número puede haber hasta {2} recursos."

        msgid "Create"
        msgstr "Crear"

        msgid "Another object with the same unique values is refused with 409."
        msgstr "Otro objeto con los mismos valores únicos se rechaza con 409."

        msgid "Change"
        msgstr "Cambiar"

        msgid "The example repeats a value that the object already has, so it changes nothing. Fields that you leave out keep their values. With If-Match, the change is refused with 412 if the object's version differs."
        msgstr "El ejemplo repite un valor que el objeto ya tiene, así que no cambia nada. Los campos que omita quedan como están. Con If-Match, el cambio se rechaza con 412 si el objeto tiene otra versión."

        msgid "Change links"
        msgstr "Cambiar enlaces"

        msgid "PATCH replaces all links of a relationship. For a list, POST appends links and DELETE removes them."
        msgstr "PATCH sustituye todos los enlaces de una relación. En una lista, POST añade enlaces al final y DELETE los quita."

        msgid "Remove"
        msgstr "Quitar"

        msgid "The object moves to the trash with all that belongs to it. The reason is optional."
        msgstr "El objeto se mueve a la papelera con todo lo que le pertenece. El motivo es opcional."

        msgid "This can't be undone. DELETE accepts If-Match too."
        msgstr "Esta acción no se puede deshacer. DELETE también admite If-Match."

        msgid "Replace {0} with the id of an object."
        msgstr "Sustituya {0} por el ID de un objeto."

        msgid "required"
        msgstr "obligatorio"

        msgid "optional"
        msgstr "opcional"

        msgid "required in its object"
        msgstr "obligatorio en su objeto"

        # Packages/Server/AdminPanel/API/APIClassPage.swift

        msgid "API: {0}"
        msgstr "API: {0}"

        # Packages/Server/AdminPanel/API/APIPages.swift

        msgid "API"
        msgstr "API"

        msgid "panel"
        msgstr "panel"

        msgctxt "may …"
        msgid "read"
        msgstr "leer"

        msgctxt "operation"
        msgid "read"
        msgstr "leer"

        msgctxt "operation"
        msgid "create"
        msgstr "crear"

        msgctxt "operation"
        msgid "update"
        msgstr "actualizar"

        msgctxt "operation"
        msgid "trash"
        msgstr "mover a la papelera"

        msgctxt "operation"
        msgid "delete"
        msgstr "eliminar"

        # Packages/Server/AdminPanel/Accounts/AccountConfirmContent.swift

        msgid "Enable {0}?"
        msgstr "¿Activar la cuenta de {0}?"

        msgid "Disable {0}?"
        msgstr "¿Desactivar la cuenta de {0}?"

        msgid "They may log in again."
        msgstr "La persona podrá volver a iniciar sesión."

        msgid "Logins that were ended stay ended."
        msgstr "Las sesiones que se cerraron siguen cerradas."

        msgid "They are logged out on every device within a second, and can't log in."
        msgstr "Las sesiones de la cuenta se cerrarán en un segundo en todos los dispositivos, y la persona no podrá iniciar sesión."

        msgid "What they have created stays, and they keep their roles."
        msgstr "Lo que haya creado la persona se conserva, y sus roles también."

        msgid "You can undo this: enable the account again."
        msgstr "Esto se puede deshacer: basta con volver a activar la cuenta."

        msgid "Enable the account"
        msgstr "Activar la cuenta"

        msgid "Disable the account"
        msgstr "Desactivar la cuenta"

        # Packages/Server/AdminPanel/Accounts/AccountContent.swift

        msgid "Password"
        msgstr "Contraseña"

        msgid "no e-mail address"
        msgstr "sin dirección de correo electrónico"

        msgid "verified, {0}"
        msgstr "verificada, {0}"

        msgid "not verified"
        msgstr "sin verificar"

        msgid "Mark as verified"
        msgstr "Marcar como verificada"

        msgid "Mark as not verified"
        msgstr "Marcar como no verificada"

        msgid "since {0}"
        msgstr "desde {0}"

        msgctxt "second factor"
        msgid "none"
        msgstr "ninguno"

        msgid "{0} everywhere"
        msgstr "{0} en todas partes"

        msgid "{0} in {1}"
        msgstr "{0} en {1}"

        msgid "unnamed device"
        msgstr "dispositivo sin nombre"

        msgid "Disable…"
        msgstr "Desactivar…"

        msgid "Enable…"
        msgstr "Activar…"

        # Packages/Server/AdminPanel/Accounts/AccountPages.swift

        msgid "Accounts"
        msgstr "Cuentas"

        msgid "All other logins were ended."
        msgstr "Se cerraron todas las demás sesiones."

        msgid "The login was ended."
        msgstr "Se cerró la sesión."

        msgid "The account"
        msgstr "La cuenta"

        msgid "{0} may log in again."
        msgstr "{0} puede volver a iniciar sesión."

        msgid "{0} is disabled, and was logged out everywhere."
        msgstr "{0} ya no puede iniciar sesión; se cerraron todas sus sesiones."

        msgid "This login has already ended."
        msgstr "Esta sesión ya se cerró."

        msgid "There is no such account."
        msgstr "Esa cuenta no existe."

        msgid "'state' must be enabled or disabled."
        msgstr "«state» no es ni enabled ni disabled."

        msgid "'search' is longer than any e-mail address."
        msgstr "«search» es más largo que cualquier dirección."

        msgid "You can't disable your own account."
        msgstr "No puede desactivar su propia cuenta."

        msgid "Another administrator can."
        msgstr "Puede hacerlo otro administrador."

        msgid "The {0} of this account is in the trash, so the account is disabled."
        msgstr "El objeto de esta cuenta ({0}) está en la papelera, por lo que la cuenta está desactivada."

        msgid "Restore the {0} from the trash."
        msgstr "Restaure ese objeto ({0}) desde la papelera."

        # Packages/Server/AdminPanel/Accounts/AccountsContent.swift

        msgid "All"
        msgstr "Todas"

        msgid "enabled"
        msgstr "activa"

        msgid "disabled"
        msgstr "desactivada"

        # Packages/Server/AdminPanel/Accounts/NewAccountPages.swift

        msgid "Add an account"
        msgstr "Añadir una cuenta"

        msgid "The account was added. A mail with a link to choose a password is on its way to {0}. The link is good for {1} days."
        msgstr "Se ha añadido la cuenta. Un correo con un enlace para elegir una contraseña va de camino a {0}. El enlace es válido durante {1} días."

        msgid "The account was added, but no mail could be sent. Press 'Mail a link to set a password' in a moment."
        msgstr "Se ha añadido la cuenta, pero no se ha podido enviar ningún correo. Pulse dentro de un momento «Enviar un enlace para definir una contraseña»."

        msgid "The account was added. It has no password yet: the server's operator can set one with 'migration-tool user password ADDRESS'."
        msgstr "Se ha añadido la cuenta. No tiene contraseña: quien opera el servidor define una con «migration-tool user password ADDRESS»."

        msgid "This address already has an account."
        msgstr "Esta dirección ya tiene una cuenta."

        # Packages/Server/AdminPanel/Accounts/PasswordLinkPages.swift

        msgid "A mail with a link to set a password is on its way to {0}. The link is good for {1} minutes. Until it's used, the password and all logins stay as they are."
        msgstr "Un correo con un enlace para definir una contraseña va de camino a {0}. El enlace es válido durante {1} minutos. Hasta que se use, la contraseña y todas las sesiones siguen como están."

        msgid "A disabled account can't get a password link."
        msgstr "Una cuenta desactivada no recibe ningún enlace para definir una contraseña."

        msgid "Enable the account first."
        msgstr "Active primero la cuenta."

        msgid "This account has no e-mail address to mail a link to."
        msgstr "Esta cuenta no tiene ninguna dirección de correo a la que se pueda enviar un enlace."

        msgid "Its owner logs in without a password."
        msgstr "Su titular inicia sesión sin contraseña."

        msgid "This server can't mail links to set a password: that requires TOMBOLO_MAIL and TOMBOLO_ADMIN_URL."
        msgstr "Este servidor no puede enviar enlaces para definir una contraseña: para eso hacen falta TOMBOLO_MAIL y TOMBOLO_ADMIN_URL."

        msgid "Its operator can set the password with 'migration-tool user password ADDRESS'."
        msgstr "Quien lo opera puede definir la contraseña con «migration-tool user password ADDRESS»."

        # Packages/Server/AdminPanel/Audit/AuditPages.swift

        msgid "Audit log"
        msgstr "Registro de auditoría"

        msgid "History of {0}"
        msgstr "Historial de {0}"

        msgid "The {0} was created again."
        msgstr "Se volvió a crear: {0}."

        msgid "Nothing was changed: it's already like this."
        msgstr "No se cambió nada: ya está así."

        msgid "Put back: {0}. The history shows it within a second."
        msgstr "Se recuperó: {0}. El historial lo mostrará en un segundo."

        msgid "Undo"
        msgstr "Deshacer"

        # Packages/Server/AdminPanel/Audit/AuditText.swift

        msgctxt "operation"
        msgid "restore"
        msgstr "restaurar"

        msgctxt "operation"
        msgid "baseline"
        msgstr "estado inicial"

        msgctxt "operation"
        msgid "gap"
        msgstr "hueco"

        msgctxt "source"
        msgid "http"
        msgstr "HTTP"

        msgctxt "source"
        msgid "sync"
        msgstr "sincronización"

        msgctxt "source"
        msgid "sql"
        msgstr "SQL"

        msgctxt "source"
        msgid "system"
        msgstr "sistema"

        msgid "Created"
        msgstr "Creación"

        msgid "Changed"
        msgstr "Modificación"

        msgid "Deleted permanently"
        msgstr "Eliminación definitiva"

        msgid "Moved to the trash"
        msgstr "Traslado a la papelera"

        msgid "Restored from the trash"
        msgstr "Restauración desde la papelera"

        msgid "Existed when the log began"
        msgstr "Ya existía cuando comenzó el registro"

        msgid "The log begins here, or has no record of earlier changes"
        msgstr "El registro comienza aquí o le falta lo que ocurrió antes"

        msgid "Created {0}"
        msgstr "Creación {0}"

        msgid "Changed {0}"
        msgstr "Modificación {0}"

        msgid "Deleted permanently {0}"
        msgstr "Eliminación definitiva {0}"

        msgid "Moved to the trash {0}"
        msgstr "Traslado a la papelera {0}"

        msgid "Restored from the trash {0}"
        msgstr "Restauración desde la papelera {0}"

        msgid "job {0}"
        msgstr "tarea {0}"

        msgid "user {0}"
        msgstr "usuario {0}"

        msgid "the server"
        msgstr "el servidor"

        msgid "a device"
        msgstr "un dispositivo"

        msgid "somebody who isn't logged in"
        msgstr "alguien que no ha iniciado sesión"

        msgid "plain SQL ({0})"
        msgstr "SQL directo ({0})"

        msgid "by {0}"
        msgstr "por {0}"

        msgid "by user {0}"
        msgstr "por el usuario {0}"

        msgid "by the server"
        msgstr "por el servidor"

        msgid "by a device"
        msgstr "por un dispositivo"

        msgid "by somebody who isn't logged in"
        msgstr "por alguien que no ha iniciado sesión"

        msgid "by plain SQL ({0})"
        msgstr "mediante SQL directo ({0})"

        msgid "a service"
        msgstr "un servicio"

        msgid "over HTTP"
        msgstr "por HTTP"

        msgid "by sync, device {0}"
        msgstr "por sincronización, dispositivo {0}"

        msgid "by sync, device unknown"
        msgstr "por sincronización, dispositivo desconocido"

        msgid "with SQL"
        msgstr "con SQL"

        msgid "from {0}"
        msgstr "desde {0}"

        msgid "secret"
        msgstr "secreto"

        msgid "none"
        msgstr "ninguno"

        msgid "empty text"
        msgstr "texto vacío"

        msgid "A field of the form isn't JSON."
        msgstr "Un campo del formulario no es JSON."

        # Packages/Server/AdminPanel/Backups/BackupPages.swift

        msgid "A backup is being made."
        msgstr "Se está creando una copia de seguridad."

        msgid "The backup {0} was deleted."
        msgstr "Se eliminó la copia de seguridad {0}."

        msgid "Backups"
        msgstr "Copias de seguridad"

        msgid "Delete {0}?"
        msgstr "¿Eliminar {0}?"

        msgid "You are viewing the panel as {0}, and backups can only be seen as yourself."
        msgstr "Está viendo el panel como {0}, y las copias de seguridad solo se pueden ver con la propia cuenta."

        msgid "Stop viewing as {0} first: the button is at the top of every page."
        msgstr "Deje primero de ver el panel como {0}: el botón está en la parte superior de cada página."

        msgid "Backups are off on this server."
        msgstr "Las copias de seguridad están desactivadas en este servidor."

        msgid "To turn them on, set {0} and {1}."
        msgstr "Se activan con {0} y {1}."

        # Packages/Server/AdminPanel/Backups/BackupsContent.swift

        msgid "unknown"
        msgstr "desconocido"

        msgid "Done. The previous database is now called {0}."
        msgstr "Hecho. Lo que se usaba hasta entonces se llama ahora {0}."

        msgid "Done."
        msgstr "Hecho."

        msgid "{0} is being restored."
        msgstr "Se está restaurando {0}."

        msgid "{0} is being restored: checking privileges."
        msgstr "Se está restaurando {0}: se comprueban los permisos."

        msgid "{0} is being restored: making a new database."
        msgstr "Se está restaurando {0}: se crea una base de datos nueva."

        msgid "{0} is being restored: filling the new database. The server stays available."
        msgstr "Se está restaurando {0}: se llena la base de datos nueva. Mientras tanto todo sigue funcionando."

        msgid "{0} is being restored: preparing the new database."
        msgstr "Se está restaurando {0}: se prepara la base de datos nueva."

        msgid "{0} is being restored: swapping the databases."
        msgstr "Se está restaurando {0}: las bases de datos intercambian sus lugares."

        msgid "restoring"
        msgstr "restaurando"

        msgid "Since {0}, by the schedule."
        msgstr "Desde {0}, según la programación."

        msgid "Since {0}, by {1}."
        msgstr "Desde {0}, por {1}."

        msgid "running"
        msgstr "en curso"

        msgid "waiting"
        msgstr "en espera"

        msgid "It begins in a moment."
        msgstr "Empezará enseguida."

        msgid "No backups are made automatically."
        msgstr "No se crean copias de seguridad automáticas."

        msgid "every hour"
        msgstr "cada hora"

        msgid "every {0} hour"
        msgid_plural "every {0} hours"
        msgstr[0] "cada {0} hora"
        msgstr[1] "cada {0} horas"

        msgid "Automatically {0}: the newest one is kept."
        msgstr "Automáticamente {0}: se conserva la más reciente."

        msgid "Automatically {0}: the newest {1} is kept."
        msgid_plural "Automatically {0}: the newest {1} are kept."
        msgstr[0] "Automáticamente {0}: se conserva la más reciente."
        msgstr[1] "Automáticamente {0}: se conservan las {1} más recientes."

        msgid "the schedule"
        msgstr "la programación"

        msgid "{0} s"
        msgstr "{0} s"

        msgid "{0} min {1} s"
        msgstr "{0} min {1} s"

        # Packages/Server/AdminPanel/Backups/RestorePages.swift

        msgid "The database {0} was deleted."
        msgstr "Se eliminó la base de datos {0}."

        msgid "This server can't restore backups."
        msgstr "Este servidor no restaura copias de seguridad."

        msgid "Set {0} to turn it on: see docs/backups.md."
        msgstr "{0} lo activa; los pasos están en docs/backups.md."

        msgid "Restore {0}?"
        msgstr "¿Restaurar {0}?"

        msgid "According to the audit log, nothing has changed since then."
        msgstr "Desde entonces no ha cambiado nada, según el registro de auditoría."

        msgid "More than {0} changes have been made since then."
        msgstr "Desde entonces se han hecho más de {0} cambios."

        msgid "{0} change has been made since then."
        msgid_plural "{0} changes have been made since then."
        msgstr[0] "Desde entonces se ha hecho {0} cambio."
        msgstr[1] "Desde entonces se han hecho {0} cambios."

        # Packages/Server/AdminPanel/Custom/PanelRequest+Objects.swift

        msgid "Pages may not change data."
        msgstr "Una página no cambia nada."

        msgid "Register an action for that."
        msgstr "Registre una acción para ello."

        msgid "There is no class '{0}'."
        msgstr "No existe la clase «{0}»."

        # Packages/Server/AdminPanel/Devices/DeviceAnswers.swift

        msgid "None of the user's devices is connected to any gateway."
        msgstr "Ninguno de los dispositivos del usuario está conectado a una pasarela."

        msgid "None of the user's devices is connected to a gateway that answered."
        msgstr "Ninguno de los dispositivos del usuario está conectado a una pasarela que haya respondido."

        msgid "The device isn't connected to any gateway."
        msgstr "El dispositivo no está conectado a ninguna pasarela."

        msgid "The device isn't connected to a gateway that answered."
        msgstr "El dispositivo no está conectado a ninguna pasarela que haya respondido."

        msgid "It was last seen on {0}."
        msgstr "Se vio por última vez el {0}."

        msgid "No gateway has ever seen it."
        msgstr "Ninguna pasarela lo ha visto nunca."

        msgid "A device gets what it's missing when it connects."
        msgstr "Un dispositivo recibe lo que le falta cuando se conecta."

        msgid "There may be a connection to {0}."
        msgstr "Puede que haya una conexión con {0}."

        # Packages/Server/AdminPanel/Devices/DevicePages.swift

        msgid "Sync devices"
        msgstr "Dispositivos sincronizados"

        msgid "All devices"
        msgstr "Todos los dispositivos"

        msgid "A connected device"
        msgstr "Un dispositivo conectado"

        msgid "objects"
        msgstr "objetos"

        msgid "Why is an object missing?"
        msgstr "¿Por qué falta un objeto?"

        msgid "This gateway is no longer running."
        msgstr "Esta pasarela ya no está en funcionamiento."

        msgid "Its devices have moved to another gateway."
        msgstr "Sus dispositivos se han conectado a otra."

        msgid "The gateway {0} doesn't answer."
        msgstr "La pasarela {0} no responde."

        msgid "Try again, or check whether it's running."
        msgstr "Vuelva a intentarlo o compruebe si está en funcionamiento."

        msgid "Enter a user or a device."
        msgstr "Introduzca un usuario o un dispositivo."

        msgid "Gateways answer only you, not the person you're viewing the panel as."
        msgstr "Las pasarelas solo le responden a usted, no a la persona como la que ve el panel."

        msgid "Stop viewing as {0} to ask them."
        msgstr "Deje de ver el panel como {0} para consultarlas."

        msgid "No account has this address or id."
        msgstr "Ninguna cuenta tiene esta dirección o este ID."

        msgid "The list of accounts has both."
        msgstr "La lista de cuentas muestra ambos."

        # Packages/Server/AdminPanel/Devices/DeviceSessionContent.swift

        msgid "{0}: {1}, version {2}"
        msgstr "{0}: {1}, versión {2}"

        msgid "and {0} more"
        msgstr "y {0} más"

        msgid "not known yet"
        msgstr "aún desconocido"

        msgid "not authenticated yet"
        msgstr "aún sin acceso"

        msgid "Device"
        msgstr "Dispositivo"

        msgid "User"
        msgstr "Usuario"

        msgid "Gateway"
        msgstr "Pasarela"

        msgid "Address"
        msgstr "Dirección"

        msgid "State"
        msgstr "Estado"

        msgid "Connected for"
        msgstr "Tiempo de conexión"

        msgid "Model"
        msgstr "Modelo"

        msgid "Partition"
        msgstr "Partición"

        msgid "Has everything up to tick"
        msgstr "Tiene todo hasta el tick"

        msgid "Behind"
        msgstr "Retraso"

        msgid "Batches not applied yet"
        msgstr "Lotes aún sin aplicar"

        msgid "Follows changes live"
        msgstr "Recibe los cambios al momento"

        msgid "Changesets"
        msgstr "Conjuntos de cambios"

        msgid "Connection"
        msgstr "Conexión"

        msgid "Reading a batch for it"
        msgstr "Se está leyendo un lote para él"

        msgid "Subscriptions"
        msgstr "Suscripciones"

        msgid "Subscriptions waiting for the current batch"
        msgstr "Suscripciones que esperan al lote en curso"

        msgid "{0} received, {1} acknowledged, {2} waiting, {3} under way"
        msgstr "{0} recibidos, {1} confirmados, {2} en espera, {3} en curso"

        msgid "{0} bytes pending, {1} bytes spooled"
        msgstr "{0} bytes pendientes, {1} bytes en el almacén temporal"

        msgid "{0} bytes pending, {1} bytes spooled, not accepting data"
        msgstr "{0} bytes pendientes, {1} bytes en el almacén temporal; ahora no acepta nada"

        # Packages/Server/AdminPanel/Devices/DeviceWhyContent.swift

        msgid "available to this device"
        msgstr "disponible para este dispositivo"

        msgid "not available to this device"
        msgstr "no disponible para este dispositivo"

        msgid "Connected devices that aren't shown: {0}. Ask about one of them by its id."
        msgstr "Dispositivos conectados que no se muestran: {0}. Pregunte por uno de ellos con su ID."

        msgid "not connected"
        msgstr "sin conexión"

        msgid "connected"
        msgstr "conectado"

        msgid "{0} at {1}"
        msgstr "{0} en {1}"

        msgid "{0} at {1}, tick {2}"
        msgstr "{0} en {1}, tick {2}"

        # Packages/Server/AdminPanel/Devices/DeviceWords.swift

        msgctxt "state of a device"
        msgid "waiting"
        msgstr "en espera"

        msgctxt "state of a device"
        msgid "authenticating"
        msgstr "autenticando"

        msgctxt "state of a device"
        msgid "opening"
        msgstr "abriendo"

        msgctxt "state of a device"
        msgid "verifying"
        msgstr "verificando"

        msgctxt "state of a device"
        msgid "reading"
        msgstr "leyendo"

        msgctxt "state of a device"
        msgid "live"
        msgstr "en vivo"

        msgctxt "state of a device"
        msgid "closed"
        msgstr "cerrado"

        msgid "{0}.{1} s"
        msgstr "{0},{1} s"

        msgid "{0} tick, {1}"
        msgid_plural "{0} ticks, {1}"
        msgstr[0] "{0} tick, {1}"
        msgstr[1] "{0} ticks, {1}"

        msgid "{0} min"
        msgstr "{0} min"

        msgid "{0} h {1} min"
        msgstr "{0} h {1} min"

        msgid "{0} d {1} h"
        msgstr "{0} d {1} h"

        msgid "{0} and {1}"
        msgstr "{0} y {1}"

        # Packages/Server/AdminPanel/Devices/DevicesContent.swift

        msgid "{0} connected device"
        msgid_plural "{0} connected devices"
        msgstr[0] "{0} dispositivo conectado"
        msgstr[1] "{0} dispositivos conectados"

        msgid "answers"
        msgstr "responde"

        msgid "refuses"
        msgstr "rechaza"

        msgid "doesn't answer"
        msgstr "no responde"

        msgid "isn't there"
        msgstr "no está"

        msgid "No gateway is running on this database."
        msgstr "Ninguna pasarela está en funcionamiento con esta base de datos."

        msgid "Start sync-gateway. A new gateway appears here within a few seconds."
        msgstr "Inicie sync-gateway. Una pasarela recién iniciada aparece aquí en unos segundos."

        msgid "No answer from {0} within {1} seconds. Devices connected there are missing from this page."
        msgstr "Sin respuesta de {0} en {1} segundos. Faltan los dispositivos que están conectados allí."

        msgid "When a gateway is killed, its devices connect to another one. This page stops asking a killed gateway after {0} seconds."
        msgstr "Si una pasarela se detuvo bruscamente, sus dispositivos se conectan a otra, y a los {0} segundos se deja de consultarla."

        msgid "{0} stopped without signing off, or can't reach the database, so it wasn't asked."
        msgstr "{0}: terminó sin avisar o no puede acceder a la base de datos; no se consultó."

        msgid "No other gateway is running."
        msgstr "No hay ninguna otra pasarela en funcionamiento."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeContent.swift

        msgid "text"
        msgstr "texto"

        msgid "whole number"
        msgstr "número entero"

        msgid "number with a fraction"
        msgstr "número con decimales"

        msgid "exact decimal number"
        msgstr "número decimal exacto"

        msgid "yes or no"
        msgstr "sí o no"

        msgid "date and time"
        msgstr "fecha y hora"

        msgid "bytes"
        msgstr "bytes"

        msgid "whole number, 32 bits"
        msgstr "número entero, 32 bits"

        msgid "whole number, 16 bits"
        msgstr "número entero, 16 bits"

        msgid "whole number, 8 bits"
        msgstr "número entero, 8 bits"

        msgid "number with a fraction, 32 bits"
        msgstr "número con decimales, 32 bits"

        msgid "list of {0}"
        msgstr "lista de {0}"

        msgid "link to {0}"
        msgstr "enlace a {0}"

        msgid "list of links to {0}"
        msgstr "lista de enlaces a {0}"

        msgid "embedded {0}"
        msgstr "incrustado: {0}"

        msgid "list of embedded {0}"
        msgstr "lista, incrustado: {0}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeForm.swift

        msgid "The texts have {0} bytes together. The limit here is {1}: use 'migration-tool apply' for larger ones."
        msgstr "Los textos suman {0} bytes. Aquí puede haber como máximo {1}: use «migration-tool apply» para textos más largos."

        msgid "The file {0} isn't UTF-8 text, so the text was left unchanged."
        msgstr "El archivo {0} no es texto en UTF-8, así que el texto queda como estaba."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePage.swift

        msgid "This is wrong:"
        msgstr "Esto es incorrecto:"

        msgid "These are wrong:"
        msgstr "Todo esto es incorrecto:"

        msgid "Change the model of {0}"
        msgstr "Cambiar el modelo de {0}"

        msgid "One of the small forms is filled in and wasn't used. Press its button, or clear it."
        msgstr "Uno de los formularios pequeños está rellenado y no se usó. Pulse su botón o vacíelo."

        msgid "There is nothing to change: this is what is already in use."
        msgstr "No hay ninguna diferencia con lo que está en uso."

        msgid "What would happen"
        msgstr "Qué pasaría"

        msgid "Somebody has changed the models or the rules since you began, and your text doesn't include those changes."
        msgstr "Alguien cambió los modelos o las reglas después de que usted empezara, y su texto no incluye ese cambio."

        msgid "Copy what you need into your text, then continue. The text is stored exactly as it stands."
        msgstr "Incorpore a su texto lo que necesite de él y continúe. Se guardará lo que diga el texto."

        msgid "The database has changed since you saw the plan. Nothing was done: this is what would happen now."
        msgstr "Desde que vio el plan, algo ha cambiado en la base de datos. No se hizo nada: esto es lo que pasaría ahora."

        msgid "There is no app with that name."
        msgstr "No hay ninguna aplicación con ese nombre."

        msgid "The page Model and rules lists the apps."
        msgstr "La página «Modelo y reglas» muestra las aplicaciones."

        msgid "The app has no rules."
        msgstr "La aplicación no tiene reglas."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePages.swift

        msgid "Changing the model"
        msgstr "Cambio del modelo"

        msgid "You are viewing the panel as {0}, who can't change models."
        msgstr "Está viendo el panel como {0}, y los modelos solo se pueden cambiar con la propia cuenta."

        # Packages/Server/AdminPanel/Documents/Changing/ModelPlanContent.swift

        msgid "The model's text"
        msgstr "Texto del modelo"

        msgid "The rules' text"
        msgstr "Texto de las reglas"

        msgid "From then on, these rules decide who may do what, and that includes you. If they take the permission matrix away from every super administrator, only somebody with the database's password can bring it back, with migration-tool apply --replace-boxes."
        msgstr "Estas reglas deciden desde entonces quién puede hacer qué, también sobre usted. Si quitan la matriz de permisos a todos los superadministradores, solo quien tenga la contraseña de la base de datos puede recuperarla, con migration-tool apply --replace-boxes."

        msgid "{0}: at least {1} row has it."
        msgid_plural "{0}: at least {1} rows have it."
        msgstr[0] "{0}: presente en al menos {1} fila."
        msgstr[1] "{0}: presente en al menos {1} filas."

        msgid "{0}: {1} row has it."
        msgid_plural "{0}: {1} rows have it."
        msgstr[0] "{0}: presente en {1} fila."
        msgstr[1] "{0}: presente en {1} filas."

        msgid "{0}: at least {1} row"
        msgid_plural "{0}: at least {1} rows"
        msgstr[0] "{0}: al menos {1} fila"
        msgstr[1] "{0}: al menos {1} filas"

        msgid "{0}: {1} row"
        msgid_plural "{0}: {1} rows"
        msgstr[0] "{0}: {1} fila"
        msgstr[1] "{0}: {1} filas"

        msgid "The texts are too long or too different to compare line by line."
        msgstr "Los textos son demasiado largos o demasiado distintos para compararlos línea por línea."

        msgid "Lines added: {0}. Lines removed: {1}."
        msgstr "Líneas añadidas: {0}. Líneas quitadas: {1}."

        # Packages/Server/AdminPanel/Documents/Changing/ModelRunContent.swift

        msgid "Step {0} of {1}: {2}"
        msgstr "Paso {0} de {1}: {2}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelWish.swift

        msgid "The class {0} was added to the text."
        msgstr "La clase {0} se añadió al texto."

        msgid "Choose the class of the new property."
        msgstr "Elija la clase de la nueva propiedad."

        msgid "{0}.{1} was added to the text."
        msgstr "La propiedad {0}.{1} se añadió al texto."

        msgid "Choose the property to rename."
        msgstr "Elija la propiedad cuyo nombre quiere cambiar."

        msgid "{0} is now called {1} in the text. Rules that name it must be changed too."
        msgstr "{0} se llama {1} en el texto. También hay que cambiar las reglas que usan ese nombre."

        msgid "Choose what to drop."
        msgstr "Elija lo que quiere quitar."

        msgid "{0} was removed from the text. Its values stay in the database."
        msgstr "«{0}» ya no figura en el texto. Los valores permanecen en la base de datos."

        msgid "Every object in Swift has a member called '{0}'. Choose another name."
        msgstr "En Swift, todo objeto tiene un miembro llamado «{0}». Elija otro nombre."

        msgid "Choose the type of the new property."
        msgstr "Elija el tipo de la nueva propiedad."

        msgid "The possible values of a whole number must be whole numbers."
        msgstr "Los valores de un número entero son números enteros."

        msgid "Enter at most {0} different values, each of at most {1} bytes."
        msgstr "Indique como máximo {0} valores, ninguno repetido ni de más de {1} bytes."

        # Packages/Server/AdminPanel/Documents/DocumentContent.swift

        msgid "The models of {0}"
        msgstr "Los modelos de {0}"

        msgid "The rules of {0}"
        msgstr "Las reglas de {0}"

        msgid "Version {0}"
        msgstr "Versión {0}"

        msgid "What changed in the models of {0}"
        msgstr "Qué cambió en los modelos de {0}"

        msgid "What changed in the rules of {0}"
        msgstr "Qué cambió en las reglas de {0}"

        msgid "Version {0} compared with version {1}"
        msgstr "Versión {0} comparada con la versión {1}"

        msgid "Nothing changed: the texts are the same."
        msgstr "No cambió nada: los textos son iguales."

        msgid "{0} line was added, {1} removed."
        msgid_plural "{0} lines were added, {1} removed."
        msgstr[0] "Se añadió {0} línea; quitadas: {1}."
        msgstr[1] "Se añadieron {0} líneas; quitadas: {1}."

        # Packages/Server/AdminPanel/Documents/DocumentPages.swift

        msgid "Model and rules"
        msgstr "Modelo y reglas"

        msgid "There is no such version, or nothing to compare to."
        msgstr "Esa versión no existe, o no hay ninguna con la que compararla."

        msgid "The history lists all versions."
        msgstr "El historial muestra todas las versiones."

        # Packages/Server/AdminPanel/Documents/DocumentsContent.swift

        msgid "models"
        msgstr "modelos"

        msgid "rules"
        msgstr "reglas"

        msgid "a tool"
        msgstr "una herramienta"

        msgid "{0} class"
        msgid_plural "{0} classes"
        msgstr[0] "{0} clase"
        msgstr[1] "{0} clases"

        msgid "{0} app"
        msgid_plural "{0} apps"
        msgstr[0] "{0} aplicación"
        msgstr[1] "{0} aplicaciones"

        msgid "This server has loaded version {0}: {1} in {2}."
        msgstr "Este servidor tiene cargada la versión {0}: {1} en {2}."

        # Packages/Server/AdminPanel/Formatting/Counted.swift

        msgctxt "number of a class"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgid "{0} object"
        msgid_plural "{0} objects"
        msgstr[0] "{0} objeto"
        msgstr[1] "{0} objetos"

        # Packages/Server/AdminPanel/Formatting/Moment.swift

        msgid "just now"
        msgstr "ahora mismo"

        msgid "{0} year ago"
        msgid_plural "{0} years ago"
        msgstr[0] "hace {0} año"
        msgstr[1] "hace {0} años"

        msgid "in {0} year"
        msgid_plural "in {0} years"
        msgstr[0] "dentro de {0} año"
        msgstr[1] "dentro de {0} años"

        msgid "{0} month ago"
        msgid_plural "{0} months ago"
        msgstr[0] "hace {0} mes"
        msgstr[1] "hace {0} meses"

        msgid "in {0} month"
        msgid_plural "in {0} months"
        msgstr[0] "dentro de {0} mes"
        msgstr[1] "dentro de {0} meses"

        msgid "{0} day ago"
        msgid_plural "{0} days ago"
        msgstr[0] "hace {0} día"
        msgstr[1] "hace {0} días"

        msgid "in {0} day"
        msgid_plural "in {0} days"
        msgstr[0] "dentro de {0} día"
        msgstr[1] "dentro de {0} días"

        msgid "{0} hour ago"
        msgid_plural "{0} hours ago"
        msgstr[0] "hace {0} hora"
        msgstr[1] "hace {0} horas"

        msgid "in {0} hour"
        msgid_plural "in {0} hours"
        msgstr[0] "dentro de {0} hora"
        msgstr[1] "dentro de {0} horas"

        msgid "{0} minute ago"
        msgid_plural "{0} minutes ago"
        msgstr[0] "hace {0} minuto"
        msgstr[1] "hace {0} minutos"

        msgid "in {0} minute"
        msgid_plural "in {0} minutes"
        msgstr[0] "dentro de {0} minuto"
        msgstr[1] "dentro de {0} minutos"

        # Packages/Server/AdminPanel/Formatting/PanelValues.swift

        msgid "'page' must be a number from 1 to {0}."
        msgstr "«page» no es un número de 1 a {0}."

        # Packages/Server/AdminPanel/Forms/EnteredValues.swift

        msgid "Row"
        msgstr "Fila"

        # Packages/Server/AdminPanel/Forms/FormPart+Values.swift

        msgid "It's already in the list."
        msgstr "Ya está en la lista."

        msgid "Choose another one."
        msgstr "Elija otro."

        # Packages/Server/AdminPanel/Forms/FormRenderer.swift

        msgid "The form has something unexpected at '{0}'."
        msgstr "El formulario contiene otra cosa en «{0}»."

        # Packages/Server/AdminPanel/Forms/FormValues.swift

        msgid "The form doesn't say how many elements '{0}' has, or there are more than {1}."
        msgstr "El formulario no indica cuántos elementos tiene «{0}», o son más de {1}."

        msgid "Load the form again."
        msgstr "Vuelva a cargar el formulario."

        # Packages/Server/AdminPanel/Imports/ImportPage.swift

        msgid "The file"
        msgstr "El archivo"

        msgid "Line"
        msgstr "Línea"

        msgid "Import {0}"
        msgstr "Importar {0}"

        msgid "All new ones"
        msgstr "Todas las nuevas"

        msgid "All rows were read, and the first {0} were tried against the data. Others may still turn out to be unchanged or have errors."
        msgstr "Se leyeron todas las filas y se probaron las primeras {0} con los datos: otras aún pueden resultar sin cambios o con errores."

        msgid "{0} row to create"
        msgid_plural "{0} rows to create"
        msgstr[0] "{0} fila por crear"
        msgstr[1] "{0} filas por crear"

        msgid "{0} row to update"
        msgid_plural "{0} rows to update"
        msgstr[0] "{0} fila por actualizar"
        msgstr[1] "{0} filas por actualizar"

        msgid "{0} row unchanged"
        msgid_plural "{0} rows unchanged"
        msgstr[0] "{0} fila sin cambios"
        msgstr[1] "{0} filas sin cambios"

        msgid "{0} row with errors"
        msgid_plural "{0} rows with errors"
        msgstr[0] "{0} fila con errores"
        msgstr[1] "{0} filas con errores"

        msgid "Update"
        msgstr "Actualizar"

        msgid "Unchanged"
        msgstr "Sin cambios"

        msgid "Error"
        msgstr "Error"

        msgid "{0} row"
        msgid_plural "{0} rows"
        msgstr[0] "{0} fila"
        msgstr[1] "{0} filas"

        # Packages/Server/AdminPanel/Imports/ImportPages.swift

        msgid "whatever the file uses"
        msgstr "lo que use el archivo"

        msgid "commas"
        msgstr "comas"

        msgid "semicolons"
        msgstr "punto y coma"

        msgid "tabs"
        msgstr "tabuladores"

        msgctxt "may …"
        msgid "create or update"
        msgstr "crear o actualizar"

        msgid "There is no such import."
        msgstr "Esa importación no existe."

        msgid "Jobs lists the ones you have."
        msgstr "La página Tareas muestra las que tiene."

        msgid "No file was chosen."
        msgstr "No se eligió ningún archivo."

        msgid "Choose one."
        msgstr "Elija uno."

        # Packages/Server/AdminPanel/Imports/MultipartDecoder.swift

        msgid "Go back, load the page again, and send the form again."
        msgstr "Vuelva atrás, cargue de nuevo la página y envíe otra vez el formulario."

        msgid "The form is incomplete."
        msgstr "El formulario está incompleto."

        msgid "The form doesn't begin with its boundary."
        msgstr "El formulario no empieza con su delimitador."

        msgid "The form has a malformed boundary."
        msgstr "El formulario tiene un delimitador que no es válido."

        msgid "A part of the form has a header longer than {0} bytes."
        msgstr "Una parte del formulario tiene una cabecera de más de {0} bytes."

        msgid "The form has more than {0} parts."
        msgstr "El formulario tiene más de {0} partes."

        msgid "A part of the form has a header that isn't UTF-8."
        msgstr "Una parte del formulario tiene una cabecera que no es UTF-8."

        msgid "A part of the form has no name."
        msgstr "Una parte del formulario no tiene nombre."

        # Packages/Server/AdminPanel/Imports/PanelUpload.swift

        msgid "The form has more than {0} bytes."
        msgstr "El formulario tiene más de {0} bytes."

        msgid "Send a smaller file."
        msgstr "Envíe un archivo más pequeño."

        msgid "A field of the form has more than {0} bytes."
        msgstr "Un campo del formulario tiene más de {0} bytes."

        # Packages/Server/AdminPanel/Jobs/BulkPage.swift

        msgid "Nothing is ticked. Tick rows, or choose all that match."
        msgstr "No hay nada marcado. Marque filas o elija todo lo que coincide."

        msgid "All matching {0}"
        msgstr "Todo lo que coincide ({0})"

        msgid "Change {0}"
        msgstr "Cambiar {0}"

        msgid "Nothing matches"
        msgstr "No hay coincidencias"

        msgid "The matching objects have changed"
        msgstr "Los objetos que coinciden han cambiado"

        msgid "Tick at least one field to change."
        msgstr "Marque al menos un campo para cambiarlo."

        # Packages/Server/AdminPanel/Jobs/BulkPages.swift

        msgctxt "may …"
        msgid "change or restore"
        msgstr "cambiar o restaurar"

        # Packages/Server/AdminPanel/Jobs/BulkTrialContent.swift

        msgid "This was a trial with all of them. Nothing has changed yet."
        msgstr "Esto fue una simulación con todos. Todavía no se ha cambiado nada."

        msgid "This was a trial with {0} of them. Nothing has changed yet."
        msgstr "Esto fue una simulación con {0} de ellos. Todavía no se ha cambiado nada."

        msgid "{0} of those that you chose no longer exists."
        msgid_plural "{0} of those that you chose no longer exist."
        msgstr[0] "{0} de los que eligió ya no existe."
        msgstr[1] "{0} de los que eligió ya no existen."

        msgid "{0} needs no change."
        msgid_plural "{0} need no change."
        msgstr[0] "{0} no necesita cambios."
        msgstr[1] "{0} no necesitan cambios."

        msgid "{0} of those tried would be refused, and stays unchanged:"
        msgid_plural "{0} of those tried would be refused, and stay unchanged:"
        msgstr[0] "{0} de los probados se rechazaría y queda sin cambios:"
        msgstr[1] "{0} de los probados se rechazarían y quedan sin cambios:"

        msgid "The app keeps {0} of those tried for now, so it can't be deleted permanently:"
        msgid_plural "The app keeps {0} of those tried for now, so they can't be deleted permanently:"
        msgstr[0] "La aplicación conservaría por ahora {0} de los probados en la papelera, sin que se pueda eliminar definitivamente:"
        msgstr[1] "La aplicación conservaría por ahora {0} de los probados en la papelera, sin que se puedan eliminar definitivamente:"

        # Packages/Server/AdminPanel/Jobs/BulkWords.swift

        msgid "Move {0} to the trash"
        msgstr "Mover {0} a la papelera"

        msgid "Restore {0}"
        msgstr "Restaurar {0}"

        msgid "Delete {0} permanently"
        msgstr "Eliminar {0} definitivamente"

        msgid "Change {0}?"
        msgstr "¿Cambiar {0}?"

        msgid "Move {0} to the trash?"
        msgstr "¿Mover {0} a la papelera?"

        msgid "Delete {0} permanently?"
        msgstr "¿Eliminar {0} definitivamente?"

        msgid "{0} other comes back with them."
        msgid_plural "{0} others come back with them."
        msgstr[0] "A la vez vuelve {0} objeto más."
        msgstr[1] "A la vez vuelven {0} objetos más."

        msgid "{0} other goes into the trash with them."
        msgid_plural "{0} others go into the trash with them."
        msgstr[0] "A la vez va a la papelera {0} objeto más."
        msgstr[1] "A la vez van a la papelera {0} objetos más."

        msgid "Change fields…"
        msgstr "Cambiar campos…"

        msgid "Move to trash…"
        msgstr "Mover a la papelera…"

        msgid "Delete permanently…"
        msgstr "Eliminar definitivamente…"

        # Packages/Server/AdminPanel/Jobs/JobContent.swift

        msgid "It starts over: all or nothing."
        msgstr "Empieza de nuevo: todo o nada."

        msgid "It continues with the remaining rows, and doesn't process any row twice."
        msgstr "Continúa con las filas que faltan, ninguna dos veces."

        msgid "Stop the job"
        msgstr "Detener la tarea"

        msgid "Discard"
        msgstr "Descartar"

        msgid "{0} of {1}"
        msgstr "{0} de {1}"

        msgid "Requested"
        msgstr "Solicitada"

        msgid "Started"
        msgstr "Iniciada"

        msgid "Finished"
        msgstr "Finalizada"

        msgid "Undoes job {0}"
        msgstr "Deshace la tarea {0}"

        msgid "Undone by job {0}"
        msgstr "Deshecha por la tarea {0}"

        msgid "Choose its columns and start it"
        msgstr "Elegir sus columnas e iniciarla"

        msgid "new object"
        msgstr "objeto nuevo"

        # Packages/Server/AdminPanel/Jobs/JobPages.swift

        msgid "Jobs"
        msgstr "Tareas"

        msgid "jobs"
        msgstr "tareas"

        msgid "Undo this job?"
        msgstr "¿Deshacer esta tarea?"

        msgid "You have no job with this number."
        msgstr "No tiene ninguna tarea con este número."

        msgid "'{0}' isn't a number."
        msgstr "«{0}» no es un número."

        msgid "This job can't be undone, or no longer can be."
        msgstr "Esta tarea no se puede deshacer, o ya no se puede."

        msgid "Its page says what it did."
        msgstr "Su página indica qué hizo."

        # Packages/Server/AdminPanel/Jobs/JobWords.swift

        msgid "Done"
        msgstr "Hecho"

        msgid "Refused"
        msgstr "Rechazado"

        msgid "Skipped"
        msgstr "Omitido"

        msgid "Pending"
        msgstr "Pendiente"

        msgid "Undo job {0}: {1}"
        msgstr "Deshacer la tarea {0}: {1}"

        msgid "Not started"
        msgstr "Sin iniciar"

        msgid "Waiting"
        msgstr "En espera"

        msgid "Running"
        msgstr "En curso"

        msgid "Failed"
        msgstr "Con error"

        msgid "Cancelled"
        msgstr "Cancelada"

        msgid "Line {0}"
        msgstr "Línea {0}"

        msgid "Row {0}"
        msgstr "Fila {0}"

        msgid "The job was stopped. What it did stays."
        msgstr "Se detuvo la tarea. Lo que hizo se conserva."

        msgid "The file was discarded. Nothing was changed."
        msgstr "Se descartó el archivo. No se cambió nada."

        msgid "The job was discarded. Nothing was changed."
        msgstr "Se descartó la tarea. No se cambió nada."

        msgid "{0}: restored from the trash, with what was moved there along with it."
        msgid_plural "{0}: restored from the trash, with what was moved there along with them."
        msgstr[0] "{0}: restauración desde la papelera, con lo que se movió allí a la vez."
        msgstr[1] "{0}: restauración desde la papelera, con lo que se movió allí a la vez."

        msgid "{0}: moved to the trash again, with what was restored along with it."
        msgid_plural "{0}: moved to the trash again, with what was restored along with them."
        msgstr[0] "{0}: nuevo traslado a la papelera, con lo que se restauró a la vez."
        msgstr[1] "{0}: nuevo traslado a la papelera, con lo que se restauró a la vez."

        msgid "{0}: set back to the previous values."
        msgstr "{0}: vuelta a los valores anteriores."

        msgid "{0}: what was done to it is undone."
        msgid_plural "{0}: what was done to them is undone."
        msgstr[0] "{0}: se deshace lo que se hizo."
        msgstr[1] "{0}: se deshace lo que se hizo."

        msgid "Reason: {0}"
        msgstr "Motivo: {0}"

        # Packages/Server/AdminPanel/Layout/PanelAssets.swift

        msgid "There is no such file."
        msgstr "Ese archivo no existe."

        # Packages/Server/AdminPanel/Layout/PanelLayout.swift

        msgid "Data"
        msgstr "Datos"

        # Packages/Server/AdminPanel/Layout/PanelTheme.swift

        msgid "same as the system"
        msgstr "según el sistema"

        msgid "light"
        msgstr "claro"

        msgid "dark"
        msgstr "oscuro"

        msgid "Unknown colour scheme."
        msgstr "Esos colores no existen."

        msgid "Choose system, light or dark."
        msgstr "Elija según el sistema, claro u oscuro."

        msgid "The panel isn't available in this language."
        msgstr "Las páginas no están disponibles en este idioma."

        msgid "Choose one of {0}."
        msgstr "Elija entre {0}."

        # Packages/Server/AdminPanel/Lists/CellText.swift

        msgid "Too long to show"
        msgstr "Demasiado largo para mostrarlo"

        msgid "no bytes"
        msgstr "sin bytes"

        msgid "{0} byte"
        msgid_plural "{0} bytes"
        msgstr[0] "{0} byte"
        msgstr[1] "{0} bytes"

        msgid "Yes"
        msgstr "Sí"

        msgid "No"
        msgstr "No"

        # Packages/Server/AdminPanel/Lists/ClassPages.swift

        msgid "objects of a class"
        msgstr "objetos de una clase"

        msgid "Did you mean '{0}'?"
        msgstr "¿Quiso decir «{0}»?"

        msgid "The overview lists the classes."
        msgstr "El resumen muestra las clases."

        msgctxt "may …"
        msgid "update"
        msgstr "actualizar"

        msgctxt "may …"
        msgid "create"
        msgstr "crear"

        msgctxt "may …"
        msgid "delete or trash"
        msgstr "eliminar o mover a la papelera"

        msgid "There is no class at this address."
        msgstr "No hay ninguna clase en esta dirección."

        # Packages/Server/AdminPanel/Lists/ClassTitle.swift

        msgid "many"
        msgstr "muchos"

        # Packages/Server/AdminPanel/Lists/ExportPages.swift

        msgid "CSV, for spreadsheets"
        msgstr "CSV, para hojas de cálculo"

        msgid "JSON"
        msgstr "JSON"

        msgid "JSON lines"
        msgstr "JSON Lines"

        # Packages/Server/AdminPanel/Lists/FilterForm+Counts.swift

        msgid "other values"
        msgstr "otros valores"

        # Packages/Server/AdminPanel/Lists/FilterForm+Values.swift

        msgid "a whole number"
        msgstr "un número entero"

        msgid "a number, such as 12.5"
        msgstr "un número, como 12.5"

        msgid "a date, such as 2026-05-14 or 2026-05-14 13:22, in UTC"
        msgstr "una fecha, como 2026-05-14 o 2026-05-14 13:22, en UTC"

        # Packages/Server/AdminPanel/Lists/FilterForm.swift

        msgid "Id"
        msgstr "ID"

        msgctxt "a field and what is asked of it"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgctxt "a field, what is asked of it, and a value"
        msgid "{0} {1} {2}"
        msgstr "{0} {1} {2}"

        msgid "{0} can't be tested with '{1}'."
        msgstr "{0} no admite la condición «{1}»."

        msgid "{0}: '{1}' isn't {2}."
        msgstr "{0}: «{1}» no es {2}."

        msgid "Enter {0}."
        msgstr "Introduzca {0}."

        msgid "{0}: there is no '{1}' among the {2}."
        msgstr "{0}: no se encontró «{1}» en {2}."

        msgid "Enter its title exactly, or its id."
        msgstr "Introduzca su título exacto o su ID."

        msgid "{0}: several of the {1} are called '{2}'."
        msgstr "{0}: en {1} hay varios con el nombre «{2}»."

        msgid "Enter the id of the one that you mean."
        msgstr "Introduzca el ID del que busca."

        # Packages/Server/AdminPanel/Lists/FilterTest.swift

        msgid "is"
        msgstr "es"

        msgid "is not"
        msgstr "no es"

        msgid "contains"
        msgstr "contiene"

        msgid "starts with"
        msgstr "empieza por"

        msgid "is before"
        msgstr "es anterior a"

        msgid "is less than"
        msgstr "es menor que"

        msgid "is not after"
        msgstr "no es posterior a"

        msgid "is at most"
        msgstr "es como máximo"

        msgid "is after"
        msgstr "es posterior a"

        msgid "is more than"
        msgstr "es mayor que"

        msgid "is not before"
        msgstr "no es anterior a"

        msgid "is at least"
        msgstr "es como mínimo"

        msgid "is one of"
        msgstr "es uno de"

        msgid "is empty"
        msgstr "está vacío"

        msgid "is not empty"
        msgstr "no está vacío"

        # Packages/Server/AdminPanel/Lists/ListPage.swift

        msgid "all {0} that match"
        msgstr "todos los que coinciden ({0})"

        msgid "all {0}"
        msgstr "todos ({0})"

        # Packages/Server/AdminPanel/Lists/ListRequest.swift

        msgid "{0} have no field '{1}'."
        msgstr "En {0} no existe el campo «{1}»."

        msgid "The search has more than {0} bytes."
        msgstr "La búsqueda tiene más de {0} bytes."

        msgid "Use a shorter search text."
        msgstr "Busque un texto más corto."

        msgid "'{0}' must be 1, which shows counts."
        msgstr "«{0}» solo puede ser 1, que muestra los recuentos."

        msgid "Leave '{0}' out of the address for a list without counts."
        msgstr "Quite «{0}» de la dirección para ver la lista sin recuentos."

        msgid "The list has {0} columns. The limit is {1}."
        msgstr "La lista tiene {0} columnas, y como máximo puede haber {1}."

        msgid "Choose fewer columns."
        msgstr "Elija menos columnas."

        # Packages/Server/AdminPanel/Lists/PanelResource.swift

        msgid "A resource has no id."
        msgstr "Un recurso no tiene ID."

        # Packages/Server/AdminPanel/Lists/RowsPage+Saving.swift

        msgid "Nothing was changed."
        msgstr "No se cambió nada."

        # Packages/Server/AdminPanel/Lists/RowsPage.swift

        msgid "None of these columns can be edited in the list. Choose others under Columns."
        msgstr "Ninguna de estas columnas se puede editar en la lista. Elija otras en Columnas."

        msgid "{0} was saved."
        msgid_plural "{0} were saved."
        msgstr[0] "Se guardó {0}."
        msgstr[1] "Se guardaron {0}."

        msgid "Edit {0}"
        msgstr "Editar {0}"

        # Packages/Server/AdminPanel/Lists/RowsTable+Form.swift

        msgid "The form doesn't say how many rows it has, or there are more than {0}."
        msgstr "El formulario no indica cuántas filas tiene, o son más de {0}."

        msgid "Load the page again."
        msgstr "Vuelva a cargar la página."

        # Packages/Server/AdminPanel/Lists/RowsTable+Refusals.swift

        msgid "It's no longer here: somebody deleted it or moved it elsewhere."
        msgstr "Ya no está aquí: alguien lo eliminó o lo movió a otro lugar."

        msgid "Saving again leaves this row out."
        msgstr "Si guarda de nuevo, esta fila se omite."

        msgid "Somebody has changed it in the meantime."
        msgstr "Entretanto, otra persona lo cambió."

        msgid "Check the current value. Saving again overwrites it with yours."
        msgstr "Revise el valor actual. Si guarda de nuevo, se escribirá lo que ha introducido."

        # Packages/Server/AdminPanel/Lists/RowsTable+Showing.swift

        msgid "{0} (required)"
        msgstr "{0} (obligatorio)"

        # Packages/Server/AdminPanel/Lists/RowsTable.swift

        msgid "New {0} {1}"
        msgstr "Objeto nuevo {1} ({0})"

        # Packages/Server/AdminPanel/Lists/SavedViews.swift

        msgid "The view '{0}' is saved."
        msgstr "Se guardó la vista «{0}»."

        msgid "The view '{0}' was deleted."
        msgstr "Se eliminó la vista «{0}»."

        msgid "Save it again"
        msgstr "Guardarla de nuevo"

        msgid "This view can't be saved: its address is too long or invalid."
        msgstr "Esta vista no se puede guardar: su dirección es demasiado larga o no es válida."

        msgid "Remove some filters."
        msgstr "Quite algunos filtros."

        msgid "You already have {0} views of this class."
        msgstr "Ya tiene {0} vistas de esta clase."

        msgid "Delete one first."
        msgstr "Elimine una primero."

        msgid "A view needs a name of at most {0} bytes."
        msgstr "Una vista necesita un nombre de {0} bytes como máximo."

        msgid "Go back and give it one."
        msgstr "Vuelva atrás y póngale uno."

        # Packages/Server/AdminPanel/Live/LivePages.swift

        msgid "Too many pages are being watched."
        msgstr "Se están observando demasiadas páginas."

        msgid "Close some of them."
        msgstr "Cierre algunas."

        # Packages/Server/AdminPanel/Markdown/MarkdownPages.swift

        msgid "The form has no text."
        msgstr "El formulario no tiene texto."

        msgid "Send it as '{0}'."
        msgstr "Envíelo como «{0}»."

        msgid "Texts of more than {0} KiB are shown unformatted."
        msgstr "Los textos de más de {0} KiB se muestran sin formato."

        msgid "Shorten the text to see it formatted."
        msgstr "Acorte el texto para verlo con formato."

        # Packages/Server/AdminPanel/Pages/HelpPages.swift

        msgid "Help"
        msgstr "Ayuda"

        # Packages/Server/AdminPanel/Pages/LoginPages.swift

        msgid "it only redirects browsers to the panel"
        msgstr "solo lleva los navegadores al panel"

        msgid "the panel's style and script hold no data"
        msgstr "el estilo y el script del panel no contienen datos"

        msgid "this is where sessions are created"
        msgstr "aquí se crean las sesiones"

        msgid "session"
        msgstr "sesión"

        msgid "Log in"
        msgstr "Iniciar sesión"

        msgid "There is nothing at this address."
        msgstr "No hay nada en esta dirección."

        # Packages/Server/AdminPanel/Pages/OverviewPages.swift

        msgid "Overview"
        msgstr "Resumen"

        msgid "{0}: {1} in the trash will be deleted permanently within {2} days."
        msgstr "{0}: {1} en la papelera se eliminarán definitivamente en {2} días."

        msgid "The purge couldn't delete {0} of the groups in the trash: {1}"
        msgstr "La purga no pudo eliminar {0} de los grupos de la papelera: {1}"

        msgid "The purge couldn't delete {0} of the groups in the trash."
        msgstr "La purga no pudo eliminar {0} de los grupos de la papelera."

        msgid "A note on the rules: {0}"
        msgstr "Una nota sobre las reglas: {0}"

        msgid "The last purge ended early: {0}"
        msgstr "La última purga terminó antes de tiempo: {0}"

        # Packages/Server/AdminPanel/Pages/PanelFailures.swift

        msgid "Not permitted"
        msgstr "No permitido"

        msgid "Not found"
        msgstr "No encontrado"

        msgid "Conflict"
        msgstr "Conflicto"

        msgid "Too many attempts"
        msgstr "Demasiados intentos"

        msgid "The server has a problem"
        msgstr "El servidor tiene un problema"

        msgid "That didn't work"
        msgstr "No se pudo completar"

        msgid "A role gets this from the box '{0}' of '{1}' in the permissions of {2}."
        msgstr "Un rol obtiene esto con la casilla «{0}» de «{1}» en los permisos de {2}."

        msgid "You may no longer change this."
        msgstr "Ya no tiene permiso para cambiar esto."

        msgid "It was removed, or you may no longer see it."
        msgstr "Se quitó, o ya no tiene permiso para verlo."

        msgid "Your session has ended. Log in again; what you sent wasn't saved."
        msgstr "Su sesión ha terminado. Vuelva a iniciar sesión; lo que envió no se guardó."

        msgid "Enter your password"
        msgstr "Introduzca su contraseña"

        # Packages/Server/AdminPanel/PanelEntry.swift

        msgid "Start"
        msgstr "Inicio"

        msgid "App"
        msgstr "Aplicación"

        msgid "Work"
        msgstr "Trabajo"

        msgid "People"
        msgstr "Personas"

        msgid "System"
        msgstr "Sistema"

        # Packages/Server/AdminPanel/PanelRequest.swift

        msgid "This isn't your password."
        msgstr "Esta no es su contraseña."

        msgid "Enter your password again to continue."
        msgstr "Introduzca de nuevo su contraseña para continuar."

        # Packages/Server/AdminPanel/PanelRoutes.swift

        msgid "Log in to see this page."
        msgstr "Esta página requiere iniciar sesión."

        # Packages/Server/AdminPanel/Passwords/ForgottenPages.swift

        msgid "it only sends mail to the owner of an address"
        msgstr "envía un correo al titular de una dirección"

        msgid "it requires a mailed token"
        msgstr "exige un token enviado por correo"

        msgid "Enter the e-mail address that you log in with."
        msgstr "Introduzca la dirección de correo electrónico con la que inicia sesión."

        msgid "Forgot your password?"
        msgstr "¿Olvidó su contraseña?"

        msgid "Set a new password"
        msgstr "Establecer una nueva contraseña"

        msgid "Your password was changed"
        msgstr "Se cambió su contraseña"

        msgid "This link is invalid, has expired or was already used."
        msgstr "Este enlace no es válido, ha caducado o ya se usó."

        # Packages/Server/AdminPanel/Passwords/PasswordPages.swift

        msgid "password"
        msgstr "contraseña"

        msgid "Change your password"
        msgstr "Cambiar la contraseña"

        msgid "Your password was changed. All your other logins were ended."
        msgstr "Se cambió su contraseña. Se cerraron todas sus demás sesiones."

        msgid "This isn't your current password."
        msgstr "Esta no es su contraseña actual."

        msgid "This is about your own account."
        msgstr "Esto se refiere a su propia cuenta."

        msgid "Stop viewing as {0} first."
        msgstr "Deje primero de ver el panel como {0}."

        msgid "The two new passwords differ."
        msgstr "Las dos contraseñas nuevas no coinciden."

        # Packages/Server/AdminPanel/People/InvitationPages.swift

        msgid "it requires an invitation's token"
        msgstr "exige el token de una invitación"

        msgid "Accept an invitation"
        msgstr "Aceptar una invitación"

        msgid "You now have the role {0}."
        msgstr "Ahora tiene el rol {0}."

        msgid "You already had the role {0}."
        msgstr "Ya tenía el rol {0}."

        msgid "{0} invites you to be {1}."
        msgstr "{0} le invita a asumir el rol {1}."

        msgid "{0} invites you to be {1} of {2}."
        msgstr "{0} le invita a asumir el rol {1} en {2}."

        msgid "You are invited"
        msgstr "Tiene una invitación"

        msgid "Your account was created"
        msgstr "Se creó su cuenta"

        # Packages/Server/AdminPanel/People/PeoplePages.swift

        msgid "The invitation of {0} was revoked."
        msgstr "Se revocó la invitación de {0}."

        msgid "The role {0} was handed over. The previous holder is now {1}."
        msgstr "Se traspasó el rol {0}. El titular anterior tiene ahora el rol {1}."

        msgid "{0} was invited by e-mail."
        msgstr "Se envió una invitación por correo electrónico a {0}."

        msgid "{0} is invited"
        msgstr "Invitación para {0}"

        msgid "There is no such invitation."
        msgstr "Esa invitación no existe."

        msgid "People lists the ones you may see."
        msgstr "La página Personas muestra las que puede ver."

        # Packages/Server/AdminPanel/People/PeopleReader.swift

        msgid "Only the first {0} are shown."
        msgstr "Solo se muestran los primeros {0}."

        msgid "Roles that apply everywhere"
        msgstr "Roles que se aplican en todas partes"

        msgid "Roles in {0}"
        msgstr "Roles en {0}"

        msgid "everywhere"
        msgstr "en todas partes"

        # Packages/Server/AdminPanel/People/RoleScope.swift

        msgid "No class with this name grants roles that you may see."
        msgstr "Ninguna clase con este nombre otorga roles que usted pueda ver."

        msgid "Choose among {0}."
        msgstr "Elija entre {0}."

        msgid "There is no object with this id in which roles can be granted."
        msgstr "No existe nada con este ID en lo que se otorguen roles."

        # Packages/Server/AdminPanel/Permissions/BoxWish.swift

        msgid "{0} may now {1} {2}."
        msgstr "{0} ya puede {1} {2}."

        msgid "{0} may no longer {1} {2}."
        msgstr "{0} ya no puede {1} {2}."

        msgid "{0} users now have the permission {1}."
        msgstr "Los usuarios «{0}» tienen ahora el permiso «{1}»."

        msgid "{0} users no longer have the permission {1}."
        msgstr "Los usuarios «{0}» ya no tienen el permiso «{1}»."

        msgid "The address doesn't name a box."
        msgstr "La dirección no indica a qué casilla se refiere."

        msgid "The matrix of {0} has no such box."
        msgstr "La matriz de {0} no tiene esa casilla."

        # Packages/Server/AdminPanel/Permissions/ConditionWords.swift

        msgid "all"
        msgstr "todos"

        msgid "{0}, and {1}"
        msgstr "{0}, y {1}"

        msgid "{0}, or {1}"
        msgstr "{0}, o {1}"

        msgid "not ({0})"
        msgstr "no ({0})"

        msgid "{0}: {1}"
        msgstr "{0}: {1}"

        msgid "{0}: not {1}"
        msgstr "{0}: no {1}"

        msgid "{0}: less than {1}"
        msgstr "{0}: menor que {1}"

        msgid "{0}: at most {1}"
        msgstr "{0}: como máximo {1}"

        msgid "{0}: more than {1}"
        msgstr "{0}: mayor que {1}"

        msgid "{0}: at least {1}"
        msgstr "{0}: como mínimo {1}"

        msgid "It's {0}"
        msgstr "Es {0}"

        msgid "It's not {0}"
        msgstr "No es {0}"

        msgid "It's less than {0}"
        msgstr "Es menor que {0}"

        msgid "It's at most {0}"
        msgstr "Es como máximo {0}"

        msgid "It's more than {0}"
        msgstr "Es mayor que {0}"

        msgid "It's at least {0}"
        msgstr "Es como mínimo {0}"

        msgid "{0}: contains '{1}'"
        msgstr "{0}: contiene «{1}»"

        msgid "{0}: begins with '{1}'"
        msgstr "{0}: empieza por «{1}»"

        msgid "{0}: ends with '{1}'"
        msgstr "{0}: termina en «{1}»"

        msgid "one where they have the role {0}"
        msgstr "uno en el que esa persona tiene el rol {0}"

        msgid "this user"
        msgstr "este usuario"

        msgid "empty"
        msgstr "vacío"

        msgid "{0} or {1}"
        msgstr "{0} o {1}"

        # Packages/Server/AdminPanel/Permissions/PermissionBoxContent.swift

        msgid "Give {0} users {1}?"
        msgstr "¿Dar a los usuarios «{0}» el permiso «{1}»?"

        msgid "Take {0} from {1} users?"
        msgstr "¿Quitar el permiso «{0}» a los usuarios «{1}»?"

        msgid "All {0} users will have the permission {1}. What it allows is defined in the rules."
        msgstr "Todos los usuarios «{0}» tendrán el permiso «{1}». Las reglas definen lo que permite."

        msgid "The permission {0} will be withdrawn from all {1} users. What they have created with it stays."
        msgstr "Ningún usuario «{1}» tendrá ya el permiso «{0}». Lo que hayan creado con él se conserva."

        msgid "Allow"
        msgstr "Permitir"

        msgid "Withdraw"
        msgstr "Retirar"

        msgid "Let {0} {1} {2}?"
        msgstr "¿Permitir que {0} pueda {1} {2}?"

        msgid "Stop {0} from creating {1}?"
        msgstr "¿Impedir que {0} cree {1}?"

        msgid "Stop {0} from reading {1}?"
        msgstr "¿Impedir que {0} lea {1}?"

        msgid "Stop {0} from updating {1}?"
        msgstr "¿Impedir que {0} actualice {1}?"

        msgid "Stop {0} from deleting {1}?"
        msgstr "¿Impedir que {0} elimine {1}?"

        msgid "Everybody with the role {0} will be able to {1} {2}. What that gives access to is defined in the rules."
        msgstr "Todas las personas con el rol {0} podrán {1} {2}. Las reglas definen lo que eso abre."

        msgid "The role {0} will no longer allow anybody to {1} {2}."
        msgstr "Nadie podrá ya {1} {2} por el rol {0}."

        msgid "Everybody with the role {0} will be able to {1} objects of {2} where they have the role."
        msgstr "Todas las personas con el rol {0} podrán {1} objetos de {2} allí donde tengan el rol."

        msgid "The role {0} will no longer allow anybody to {1} objects of {2}."
        msgstr "Nadie podrá ya {1} objetos de {2} por el rol {0}."

        msgid "Devices lose their copies of what they may no longer read."
        msgstr "Los dispositivos pierden sus copias de lo que ya no pueden leer."

        # Packages/Server/AdminPanel/Permissions/PermissionPages.swift

        msgid "Routes by role"
        msgstr "Rutas por rol"

        msgid "Permissions"
        msgstr "Permisos"

        msgid "The rules have changed since you opened the page."
        msgstr "Las reglas han cambiado desde que abrió la página."

        msgid "The box is already as you want it."
        msgstr "La casilla ya está como usted quiere."

        msgid "Go back to the permissions, and choose the box there."
        msgstr "Vuelva a los permisos y elija allí la casilla."

        msgid "The rules would be invalid."
        msgstr "Las reglas tendrían errores."

        msgid "The app no longer has a permission matrix."
        msgstr "La aplicación ya no tiene matriz de permisos."

        msgid "Somebody has changed the rules since you opened the page; nothing was stored."
        msgstr "Alguien cambió las reglas después de que abriera la página; no se guardó nada."

        msgid "Check the permissions again. To make the change anyway, send it again: it's now for the newest rules."
        msgstr "Revise de nuevo los permisos. Si aún quiere el cambio, envíelo otra vez: ahora se aplica a las reglas más recientes."

        # Packages/Server/AdminPanel/Permissions/PermissionsContent.swift

        msgid "{0}, version {1}, stored {2} by {3}."
        msgstr "{0}, versión {1}, guardada: {2}, por {3}."

        msgid "{0}, version {1}, stored {2}."
        msgstr "{0}, versión {1}, guardada: {2}."

        msgid "{0}, version {1}."
        msgstr "{0}, versión {1}."

        msgid "everywhere, added"
        msgstr "en todas partes, añadido"

        msgctxt "role"
        msgid "added"
        msgstr "añadido"

        msgid "{0} users have the permission {1}"
        msgstr "Los usuarios «{0}» tienen el permiso «{1}»"

        msgid "{0} users don't have the permission {1}"
        msgstr "Los usuarios «{0}» no tienen el permiso «{1}»"

        msgid "{0} may {1} {2}"
        msgstr "{0} puede {1} {2}"

        msgid "{0} may not {1} {2}"
        msgstr "{0} no puede {1} {2}"

        msgid "{0} may {1} {2}, by the rules of the class"
        msgstr "{0} puede {1} {2}, según las reglas de la clase"

        msgid "{0} may not {1} {2}, by the rules of the class"
        msgstr "{0} no puede {1} {2}, según las reglas de la clase"

        # Packages/Server/AdminPanel/Permissions/RoleContent.swift

        msgid "It applies within one object, such as an event."
        msgstr "Se aplica dentro de un objeto, como un evento."

        msgid "It applies everywhere."
        msgstr "Se aplica en todas partes."

        msgid "nobody"
        msgstr "nadie"

        msgid "And {0} more."
        msgstr "Y {0} más."

        msgid "The app's rules also name this role elsewhere, so it can't be renamed or removed."
        msgstr "Las reglas de la aplicación mencionan este rol en otros lugares, por lo que no se puede renombrar ni quitar."

        msgid "It can't be removed while somebody has it. Delete the objects that grant it, or rename it."
        msgstr "No se puede quitar mientras alguien lo tenga. Elimine los objetos que lo otorgan o cambie su nombre."

        msgid "once"
        msgstr "una vez"

        msgid "{0} time"
        msgid_plural "{0} times"
        msgstr[0] "{0} vez"
        msgstr[1] "{0} veces"

        msgid "Nobody has it."
        msgstr "Nadie lo tiene."

        msgid "{0} user has it"
        msgid_plural "{0} users have it"
        msgstr[0] "{0} usuario lo tiene"
        msgstr[1] "{0} usuarios lo tienen"

        msgid "{0} object grants it"
        msgid_plural "{0} objects grant it"
        msgstr[0] "{0} objeto lo otorga"
        msgstr[1] "{0} objetos lo otorgan"

        msgid "{0}; {1}."
        msgstr "{0}; {1}."

        msgid "May {0} {1}"
        msgstr "Puede {0} {1}"

        # Packages/Server/AdminPanel/Permissions/RolePages.swift

        msgid "The role {0} is now called {1}. Everybody who had it keeps it."
        msgstr "El rol {0} se llama ahora {1}. Todas las personas que lo tenían lo conservan."

        msgid "The role {0} was removed."
        msgstr "Se quitó el rol {0}."

        msgid "Role {0}"
        msgstr "Rol {0}"

        msgid "Add a role"
        msgstr "Añadir un rol"

        msgid "The role {0} was added."
        msgstr "Se añadió el rol {0}."

        msgid "There is no such role."
        msgstr "Ese rol no existe."

        msgid "Somebody may have renamed or removed it in the meantime."
        msgstr "Puede que entretanto alguien lo haya renombrado o quitado."

        msgid "The form doesn't say which version of the rules it's for."
        msgstr "El formulario no indica a qué reglas se refiere."

        # Packages/Server/AdminPanel/Permissions/RoutesContent.swift

        msgid "anonymous"
        msgstr "anónimo"

        msgid "any user"
        msgstr "cualquier usuario"

        msgid "{0} of {1} routes"
        msgstr "{0} de {1} rutas"

        msgctxt "route"
        msgid "refused"
        msgstr "rechazado"

        msgctxt "route"
        msgid "own only"
        msgstr "solo propios"

        msgctxt "route"
        msgid "allowed"
        msgstr "permitido"

        # Packages/Server/AdminPanel/Permissions/UserPermissionText.swift

        msgid "none, as one of the {0} users"
        msgstr "ninguno, como parte de los usuarios «{0}»"

        msgid "{0}, as one of the {1} users"
        msgstr "{0}, como parte de los usuarios «{1}»"

        # Packages/Server/AdminPanel/Permissions/VerificationPages.swift

        msgid "The address is now marked as verified."
        msgstr "La dirección está ahora marcada como verificada."

        msgid "The address is now marked as not verified."
        msgstr "La dirección está ahora marcada como no verificada."

        msgid "There is no such account, or it has no e-mail address to verify."
        msgstr "Esa cuenta no existe, o no tiene ninguna dirección de correo electrónico que verificar."

        # Packages/Server/AdminPanel/Permissions/ViewAsPages.swift

        msgid "View as"
        msgstr "Ver como"

        msgid "No account that may log in has this address or id."
        msgstr "Ninguna cuenta que pueda iniciar sesión tiene esta dirección o este ID."

        msgid "A disabled account sees nothing."
        msgstr "Una cuenta desactivada no ve nada."

        msgid "Choose a role, or enter a user's address or id."
        msgstr "Elija un rol, o introduzca la dirección o el ID de un usuario."

        msgid "No object in which roles can be granted is called '{0}'."
        msgstr "No se otorgan roles en nada con el nombre «{0}»."

        msgid "Several are called '{0}'."
        msgstr "Hay varios con el nombre «{0}»."

        # Packages/Server/AdminPanel/Permissions/WhyBoxes.swift

        msgid "None of their roles has a box for {0}."
        msgstr "Ningún rol de esa persona tiene una casilla para {0}."

        msgid "None of their roles there has a box for {0}."
        msgstr "Ningún rol de esa persona en el ámbito del objeto tiene una casilla para {0}."

        msgid "The box is off: {0} may not {1} {2}."
        msgstr "La casilla no está marcada: {0} no puede {1} {2}."

        # Packages/Server/AdminPanel/Permissions/WhyContent.swift

        msgid "What {0} may do with {1} {2}"
        msgstr "Qué puede hacer {0} con {1} {2}"

        msgid "What {0} may do with objects of {1}"
        msgstr "Qué puede hacer {0} con objetos de {1}"

        msgid "{0} has no rules, so nobody may do anything with it."
        msgstr "{0} no tiene reglas, así que nadie puede hacer nada con esta clase."

        msgid "The role '{0}' ({1}) decides: it's the first in the rules that applies."
        msgstr "Decide el rol «{0}» ({1}): es el primero de las reglas que se aplica."

        msgid "No role in the rules applies, so they may do nothing."
        msgstr "Ningún rol de las reglas se aplica, así que esa persona no puede hacer nada."

        msgid "none: it depends on the user, not on the object"
        msgstr "ninguno, sea como sea: depende de quién pregunta"

        msgid "those with"
        msgstr "los que cumplen"

        msgid "applies"
        msgstr "se aplica"

        msgid "not reached"
        msgstr "no se llega a evaluar"

        msgid "doesn't apply; it would need"
        msgstr "no se aplica; haría falta"

        msgctxt "objects"
        msgid "some"
        msgstr "algunos"

        # Packages/Server/AdminPanel/Permissions/WhyPages.swift

        msgid "Not logged in"
        msgstr "Sin iniciar sesión"

        msgid "Check permissions"
        msgstr "Comprobar permisos"

        msgid "somebody with the role {0}"
        msgstr "alguien con el rol {0}"

        msgid "There is no class {0}."
        msgstr "No existe la clase {0}."

        msgid "{0} can't be explained."
        msgstr "{0} no se puede explicar."

        msgid "Somebody whose account is disabled may do nothing."
        msgstr "Quien tiene la cuenta desactivada no puede hacer nada."

        msgid "The id isn't {0}."
        msgstr "El ID no es {0}."

        # Packages/Server/AdminPanel/Places/GeographicPoint.swift

        msgid "{0}° S"
        msgstr "{0}° S"

        msgid "{0}° N"
        msgstr "{0}° N"

        msgid "{0}° W"
        msgstr "{0}° O"

        msgid "{0}° E"
        msgstr "{0}° E"

        # Packages/Server/AdminPanel/Places/MapPages.swift

        msgid "There are no maps on this server."
        msgstr "En este servidor no hay mapas."

        msgid "Set {0} to turn them on."
        msgstr "Se activan con {0}."

        # Packages/Server/AdminPanel/Places/MapPicture.swift

        msgid "Map of {0}"
        msgstr "Mapa de {0}"

        msgid "Map of the world"
        msgstr "Mapa del mundo"

        msgid "Zoom in"
        msgstr "Acercar"

        msgid "Zoom out"
        msgstr "Alejar"

        # Packages/Server/AdminPanel/Places/RecordPage+Places.swift

        msgid "Place"
        msgstr "Lugar"

        msgid "Place: {0}"
        msgstr "Lugar: {0}"

        # Packages/Server/AdminPanel/Records/BytesPages.swift

        msgid "There are no such bytes."
        msgstr "Esos bytes no existen."

        msgid "The record's page lists its fields."
        msgstr "La página del objeto muestra sus campos."

        msgid "There are no bytes."
        msgstr "No hay bytes."

        msgid "There's no thumbnail of these bytes."
        msgstr "No hay miniatura de estos bytes."

        # Packages/Server/AdminPanel/Records/ChildRows+Showing.swift

        msgctxt "several"
        msgid "New {0}"
        msgstr "Crear {0}"

        # Packages/Server/AdminPanel/Records/ConflictPage+Rows.swift

        msgid "{0} '{1}': {2}"
        msgstr "{0} «{1}»: {2}"

        # Packages/Server/AdminPanel/Records/ConflictPage.swift

        msgid "Somebody changed {0} or its {1} in the meantime"
        msgstr "Entretanto, otra persona cambió {0} o elementos suyos ({1})"

        msgid "Somebody changed {0} in the meantime"
        msgstr "Entretanto, otra persona cambió {0}"

        # Packages/Server/AdminPanel/Records/EditPage+Controls.swift

        msgid "In UTC."
        msgstr "En UTC."

        msgid "In UTC, such as 2026-05-14T13:22:18Z."
        msgstr "En UTC, como 2026-05-14T13:22:18Z."

        msgid "There are none of the chosen {0}."
        msgstr "No hay ninguno para lo elegido en {0}."

        msgid "Only those of the chosen {0}."
        msgstr "Solo los que corresponden a lo elegido en {0}."

        msgid "Nothing was found for '{0}' among those of the chosen {1}."
        msgstr "No se encontró nada con «{0}» entre los que corresponden a lo elegido en {1}."

        msgid "Nothing was found for '{0}'."
        msgstr "No se encontró nada con «{0}»."

        # Packages/Server/AdminPanel/Records/EditPage+Notice.swift

        msgid "'{0}' is {1}"
        msgstr "«{0}» es {1}"

        msgid "'{0}' isn't what you entered"
        msgstr "«{0}» no es lo que introdujo"

        msgid "{0}: the database sets it itself."
        msgid_plural "{0}: the database sets them itself."
        msgstr[0] "{0}: lo establece la propia base de datos."
        msgstr[1] "{0}: los establece la propia base de datos."

        # Packages/Server/AdminPanel/Records/EditPage+Rebasing.swift

        msgid "{0} has become too long for a form, so your input there was discarded."
        msgstr "{0} es ahora demasiado largo para un formulario, así que lo que introdujo ahí se ha perdido."

        msgid "Change it over JSON:API."
        msgstr "Cámbielo mediante JSON:API."

        msgid "Your choice wasn't kept."
        msgstr "Su elección no se conserva."

        msgid "Make it again."
        msgstr "Vuelva a elegir."

        msgid "Somebody has changed it in the meantime. Current value: {0}."
        msgstr "Entretanto, otra persona lo cambió. Valor actual: {0}."

        msgid "Saving again overwrites it with your value."
        msgstr "Si guarda de nuevo, se escribirá lo que ha introducido."

        # Packages/Server/AdminPanel/Records/EditPage+Repeating.swift

        msgid "Created only once, although the form was sent twice."
        msgstr "Se creó una sola vez, aunque el formulario se envió dos veces."

        # Packages/Server/AdminPanel/Records/EditPage+Saving.swift

        msgid "Saved."
        msgstr "Guardado."

        msgid "Created."
        msgstr "Creado."

        msgid "Created, but you may not see it."
        msgstr "Creado, pero no tiene permiso para verlo."

        msgid "A form can have at most {0} values in lists."
        msgstr "Un formulario admite como máximo {0} valores en listas."

        msgid "Save what you have, or write longer lists over JSON:API."
        msgstr "Guarde lo que tiene, o escriba listas más largas mediante JSON:API."

        # Packages/Server/AdminPanel/Records/EditPage+SavingTogether.swift

        msgid "Saved, with {0}."
        msgstr "Guardado, con {0}."

        msgid "Created, with {0}."
        msgstr "Creado, con {0}."

        # Packages/Server/AdminPanel/Records/EditPage+Showing.swift

        msgid "Save"
        msgstr "Guardar"

        msgid "New {0}"
        msgstr "Crear {0}"

        # Packages/Server/AdminPanel/Records/EditPage+Together.swift

        msgid "Nothing links to {0} through '{1}'."
        msgstr "Nada enlaza con {0} mediante «{1}»."

        msgid "{0} can't be edited in one form with {1}: they have required fields that rows can't show."
        msgstr "No se puede editar {0} en un mismo formulario con {1}: hace falta más de lo que cabe en filas."

        msgid "Open the form of each."
        msgstr "Abra el formulario de cada objeto."

        msgid "The rows of {0} have unsaved changes."
        msgstr "Las filas de {0} tienen cambios."

        msgid "Save them before you edit others."
        msgstr "Guárdelos antes de editar otras."

        # Packages/Server/AdminPanel/Records/RecordPage.swift

        msgid "More than {0}"
        msgstr "Más de {0}"

        # Packages/Server/AdminPanel/Records/RemovalPage.swift

        msgid "Move to trash?"
        msgstr "¿Mover a la papelera?"

        msgid "Delete permanently?"
        msgstr "¿Eliminar definitivamente?"

        msgid "It can be restored at any time."
        msgstr "Se puede restaurar en cualquier momento."

        msgid "It can be restored for {0} day."
        msgid_plural "It can be restored for {0} days."
        msgstr[0] "Se puede restaurar durante {0} día."
        msgstr[1] "Se puede restaurar durante {0} días."

        msgid "Objects that you may not see"
        msgstr "Objetos que no puede ver"

        msgid "Somebody changed {0} in the meantime, so it wasn't removed."
        msgstr "Entretanto, otra persona cambió {0}, así que no se quitó."

        msgid "Check it again before you continue."
        msgstr "Revíselo de nuevo antes de continuar."

        msgid "{0} was moved to the trash."
        msgstr "Se movió a la papelera: {0}."

        msgctxt "record"
        msgid "{0} was deleted permanently."
        msgstr "Se eliminó definitivamente: {0}."

        msgid "Restore"
        msgstr "Restaurar"

        msgid "{0} was restored."
        msgid_plural "{0} were restored."
        msgstr[0] "Se restauró {0}."
        msgstr[1] "Se restauraron {0}."

        msgid "The form doesn't say what to restore."
        msgstr "El formulario no indica qué restaurar."

        # Packages/Server/AdminPanel/Requests/RequestChart.swift

        msgid "{0}: {1} requests, {2} refused, {3} failed"
        msgstr "{0}: {1} solicitudes, {2} rechazadas, {3} con error"

        # Packages/Server/AdminPanel/Requests/RequestLine.swift

        msgid "no route"
        msgstr "sin ruta"

        msgid "{0} ms"
        msgstr "{0} ms"

        # Packages/Server/AdminPanel/Requests/RequestPages.swift

        msgid "Requests"
        msgstr "Solicitudes"

        # Packages/Server/AdminPanel/Requests/RequestWish.swift

        msgid "'after' must be the 'next' value of an earlier response."
        msgstr "«after» no es lo que una respuesta dio como «next»."

        msgid "'{0}' is longer than {1} bytes, or contains U+0000."
        msgstr "«{0}» tiene más de {1} bytes o contiene un U+0000."

        msgid "Search for a shorter part of it."
        msgstr "Busque una parte más corta."

        msgid "'range' must be latest, day or all, and only latest if requests aren't kept."
        msgstr "«range» debe ser latest, day o all, en la medida en que el servidor conserve solicitudes."

        msgid "'show' must be all, slow, refused or failed."
        msgstr "«show» debe ser all, slow, refused o failed."

        # Packages/Server/AdminPanel/Requests/RequestsContent.swift

        msgid "In the last {0} minutes: {1} requests, {2} refused (4xx), {3} failed (5xx)."
        msgstr "En los últimos {0} minutos: {1} solicitudes, {2} rechazadas (4xx), {3} con error (5xx)."

        msgid "Found: {0} requests, {1} refused (4xx), {2} failed (5xx)."
        msgstr "Encontradas: {0} solicitudes, {1} rechazadas (4xx), {2} con error (5xx)."

        msgctxt "requests"
        msgid "All"
        msgstr "Todas"

        msgctxt "requests"
        msgid "Slow"
        msgstr "Lentas"

        msgctxt "requests"
        msgid "Refused"
        msgstr "Rechazadas"

        msgctxt "requests"
        msgid "Failed"
        msgstr "Con error"

        msgid "There is no chart: counting takes longer than {0} seconds."
        msgstr "No hay gráfico: contarlas lleva más de {0} segundos."

        msgid "{0} request to this server is missing from the log: the database was too slow."
        msgid_plural "{0} requests to this server are missing from the log: the database was too slow."
        msgstr[0] "Falta {0} solicitud a este servidor en el registro: la base de datos era demasiado lenta."
        msgstr[1] "Faltan {0} solicitudes a este servidor en el registro: la base de datos era demasiado lenta."

        msgid "No requests match."
        msgstr "Ninguna solicitud coincide."

        msgid "No requests yet."
        msgstr "Todavía no hay solicitudes."

        msgid "None since the server started, among those that are kept."
        msgstr "Ninguna desde que se inició el servidor, entre las que se conservan."

        msgid "This server, latest"
        msgstr "Este servidor, las últimas"

        msgid "All servers, last day"
        msgstr "Todos los servidores, último día"

        msgid "All servers, {0} day"
        msgid_plural "All servers, {0} days"
        msgstr[0] "Todos los servidores, {0} día"
        msgstr[1] "Todos los servidores, {0} días"

        # Packages/Server/AdminPanel/SQL/SQLContent.swift

        msgid "Line {0}, column {1}"
        msgstr "Línea {0}, columna {1}"

        msgid "There are more rows: only the first {0} are shown."
        msgstr "Hay más filas: solo se muestran las primeras {0}."

        msgid "There are more rows than a page can show. Select fewer or shorter columns."
        msgstr "Hay más filas: estas son todas las que caben en una página. Seleccione menos columnas o columnas más cortas."

        msgid "{0} row in {1} ms"
        msgid_plural "{0} rows in {1} ms"
        msgstr[0] "{0} fila en {1} ms"
        msgstr[1] "{0} filas en {1} ms"

        # Packages/Server/AdminPanel/SQL/SQLPages.swift

        msgid "SQL"
        msgstr "SQL"

        msgid "SQL shows what the database user may read, not what {0} may see."
        msgstr "SQL muestra lo que puede leer el usuario de la base de datos, no lo que puede ver {0}."

        # Packages/Server/AdminPanel/Schedule/ScheduleContent.swift

        msgid "View its runs, or run it now"
        msgstr "Sus ejecuciones, y ejecutarla ahora"

        msgid "The backups"
        msgstr "Las copias de seguridad"

        msgid "Your jobs"
        msgstr "Sus tareas"

        msgid "The log"
        msgstr "El registro"

        msgid "late"
        msgstr "con retraso"

        msgctxt "job"
        msgid "runs"
        msgstr "en ejecución"

        msgid "failed"
        msgstr "con error"

        msgid "idle"
        msgstr "inactiva"

        msgid "never ran"
        msgstr "nunca ejecutada"

        msgid "done"
        msgstr "hecha"

        msgid "Purge of the trash"
        msgstr "Purga de la papelera"

        msgid "One admin server permanently deletes what has been in the trash long enough."
        msgstr "Un servidor de administración elimina definitivamente lo que ha estado suficiente tiempo en la papelera."

        msgid "Admin servers copy changes into the audit log."
        msgstr "Los servidores de administración copian los cambios en el registro de auditoría."

        msgid "continuously"
        msgstr "continuamente"

        msgid "Audit log: old months"
        msgstr "Registro de auditoría: meses antiguos"

        msgid "Admin servers delete months that no longer need to be kept."
        msgstr "Los servidores de administración eliminan los meses que ya no hace falta conservar."

        msgid "Admin servers process long-running requests."
        msgstr "Los servidores de administración procesan las solicitudes que tardan más."

        msgid "Jobs: old ones"
        msgstr "Tareas: antiguas"

        msgid "Admin servers delete jobs that ended long ago."
        msgstr "Los servidores de administración eliminan las tareas que terminaron hace tiempo."

        msgid "Requests: old ones"
        msgstr "Solicitudes: antiguas"

        msgid "One admin server deletes requests from the log that no longer need to be kept."
        msgstr "Un servidor de administración elimina del registro las solicitudes que ya no hace falta conservar."

        msgid "every 10 minutes"
        msgstr "cada 10 minutos"

        msgid "Changelog: old changes"
        msgstr "Registro de cambios: cambios antiguos"

        msgid "One gateway deletes changes that no device needs any more."
        msgstr "Una pasarela elimina los cambios que ya no necesita ningún dispositivo."

        msgid "One admin server makes a backup of the database, and deletes old automatic ones."
        msgstr "Un servidor de administración crea una copia de seguridad de la base de datos y elimina las automáticas antiguas."

        msgid "within a minute"
        msgstr "en menos de un minuto"

        # Packages/Server/AdminPanel/Schedule/SchedulePages.swift

        msgid "Scheduled jobs"
        msgstr "Tareas programadas"

        msgid "The job begins in a moment."
        msgstr "La tarea empezará enseguida."

        # Packages/Server/AdminPanel/SecondFactor/CodePages.swift

        msgid "Enter the code"
        msgstr "Introduzca el código"

        # Packages/Server/AdminPanel/SecondFactor/PanelGate.swift

        msgid "Enter the code that your authenticator app shows."
        msgstr "Introduzca el código que muestra su aplicación de autenticación."

        msgid "Your account requires a second factor. Set it up first."
        msgstr "Su cuenta requiere un segundo factor. Configúrelo primero."

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorContent.swift

        msgid "{0} recovery code is left."
        msgid_plural "{0} recovery codes are left."
        msgstr[0] "Queda {0} código de recuperación."
        msgstr[1] "Quedan {0} códigos de recuperación."

        msgid "Set it up"
        msgstr "Configurarlo"

        msgid "Set up another app"
        msgstr "Configurar otra aplicación"

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorPages.swift

        msgid "second factor"
        msgstr "segundo factor"

        msgid "Second factor"
        msgstr "Segundo factor"

        msgid "From now on, you log in with your password alone."
        msgstr "A partir de ahora, su contraseña basta para iniciar sesión."

        msgid "Set up a second factor"
        msgstr "Configurar un segundo factor"

        msgid "Recovery codes"
        msgstr "Códigos de recuperación"

        msgid "The second factor was removed. Until they set up another one, they log in with the password alone."
        msgstr "Se quitó el segundo factor. Hasta que se configure otro, en esta cuenta basta la contraseña para iniciar sesión."

        msgid "Your account requires a second factor."
        msgstr "Su cuenta requiere un segundo factor."

        msgid "Set up another one to replace it."
        msgstr "Configure otro, que sustituirá a este."

        msgid "Your account has no second factor."
        msgstr "Su cuenta no tiene segundo factor."

        msgid "You can't remove your own second factor here."
        msgstr "Aquí no puede quitar su propio segundo factor."

        msgid "Use your own page: {0}."
        msgstr "Use su propia página: {0}."

        msgid "This account no longer has a second factor."
        msgstr "Esta cuenta ya no tiene segundo factor."

        # Packages/Server/AdminPanel/Sessions/PanelCore+Identity.swift

        msgid "Log in first."
        msgstr "Inicie sesión primero."

        # Packages/Server/AdminPanel/Sessions/PanelForm+Files.swift

        msgid "The form is longer than {0} bytes."
        msgstr "El formulario ocupa más de {0} bytes."

        msgid "Send less at once."
        msgstr "Envíe menos de una vez."

        msgid "The form has more than {0} bytes of text."
        msgstr "El formulario tiene más de {0} bytes de texto."

        msgid "Go back and shorten a text: a form sends both its original and its new version."
        msgstr "Vuelva atrás y acorte un texto. Un formulario envía cada uno como era y como es ahora."

        msgid "The file has more than {0} MiB."
        msgstr "El archivo tiene más de {0} MiB."

        msgid "Go back, and choose a smaller one."
        msgstr "Vuelva atrás y elija uno más pequeño."

        msgid "The form has a field that isn't text."
        msgstr "El formulario tiene un campo que no es texto."

        # Packages/Server/AdminPanel/Sessions/PanelForm.swift

        msgid "The body isn't a form."
        msgstr "El cuerpo no es un formulario."

        msgid "The form has more than {0} fields."
        msgstr "El formulario tiene más de {0} campos."

        msgid "This form was loaded before you logged in or re-entered your password in another window. Nothing was changed."
        msgstr "Este formulario es anterior a su inicio de sesión, o a que introdujera de nuevo su contraseña en otra ventana. No se cambió nada."

        # Packages/Server/AdminPanel/Sessions/PanelViewing.swift

        msgid "the role {0}"
        msgstr "el rol {0}"

        msgid "the role {0} in {1}"
        msgstr "el rol {0} en {1}"

        msgid "You are viewing the panel as {0}, so nothing was changed."
        msgstr "Está viendo el panel como {0}, así que no se cambió nada."

        # Packages/Server/AdminPanel/Sessions/RequestOrigin.swift

        msgid "This form was sent from another site, and nothing was changed."
        msgstr "Este formulario se envió desde otro sitio, y no se cambió nada."

        msgid "Open the panel yourself and send the form from there. Any proxy in front must pass on the Host header."
        msgstr "Abra usted el panel y envíe el formulario desde ahí. Si hay un proxy, debe reenviar la cabecera Host."

        # Packages/Server/AdminPanel/Settings/SettingPages.swift

        msgid "Settings"
        msgstr "Configuración"

        msgid "{0} has its default value again."
        msgstr "Vuelve a valer el valor predeterminado de {0}."

        msgid "{0} was changed. All admin servers use it within a few seconds."
        msgstr "{0} se cambió. Todos los servidores de administración lo aplican en unos segundos."

        msgid "{0} has reset this to the default in the meantime. Save again to overwrite it with your value."
        msgstr "Entretanto, {0} restableció el valor predeterminado. Guarde de nuevo si debe valer su valor."

        msgid "{0} has changed this to {1} in the meantime. Save again to overwrite it with your value."
        msgstr "Entretanto, {0} cambió esto a {1}. Guarde de nuevo si debe valer su valor."

        msgid "There is no such setting."
        msgstr "Ese ajuste no existe."

        msgid "The settings page lists the ones that can be changed."
        msgstr "La página de ajustes contiene los que se pueden cambiar."

        msgid "This is set where the server is started, so the panel can't change it."
        msgstr "Esto se define donde se inicia el servidor, así que no se puede cambiar aquí."

        msgid "Remove the variable {0} there and restart the server."
        msgstr "Quite allí la variable {0} y reinicie el servidor."

        # Packages/Server/AdminPanel/Settings/SettingState.swift

        msgid "Set back to the default in the panel by {0}"
        msgstr "Restablecido al valor predeterminado en el panel por {0}"

        msgid "Changed in the panel by {0}"
        msgstr "Cambiado en el panel por {0}"

        # Packages/Server/AdminPanel/Settings/SettingsContent.swift

        msgid "{0}, on a free port"
        msgstr "{0}, en un puerto libre"

        # Packages/Server/AdminPanel/Settings/SettingsPages.swift

        msgid "PostgreSQL {0}, as {1} in the database {2}"
        msgstr "PostgreSQL {0}, como {1} en la base de datos {2}"

        msgid "The carrier accepted a test mail to {0}. If it doesn't arrive, check the carrier's log and your spam folder."
        msgstr "El servicio de correo aceptó un correo de prueba para {0}. Si no llega, revise el registro del servicio de correo y su carpeta de correo no deseado."

        # Packages/Server/AdminPanel/Settings/SettingsWarnings.swift

        msgid "This server doesn't send mail: {0} isn't set. Invitations aren't mailed, so people have to pass on the links themselves, and nobody can reset a forgotten password."
        msgstr "Este servidor no envía correo: {0} no está definida. Las invitaciones no se envían por correo, de modo que hay que entregar los enlaces en persona, y nadie puede restablecer una contraseña olvidada."

        msgid "Mails don't reach anybody: {0} stores them in a folder, which is meant for development."
        msgstr "Los correos no llegan a nadie: {0} los guarda en una carpeta, lo que solo sirve para el desarrollo."

        msgid "Mails can't link to this server because {0} isn't set, so nobody can reset a forgotten password."
        msgstr "Los correos no pueden incluir enlaces a este servidor: {0} no está definida. Por eso nadie puede restablecer una contraseña olvidada."

        msgid "This page was loaded over HTTP, so the session cookie isn't secure, and anybody on the network can read it. Set {0} and {1}, or name a proxy that speaks HTTPS in {2}."
        msgstr "Esta página llegó por HTTP, así que la cookie de la sesión no es segura y cualquiera en la red puede leerla. Defina {0} y {1}, o indique en {2} un proxy que use HTTPS."

        msgid "Leaked passwords are accepted, except for very common ones: {0} isn't set."
        msgstr "Se aceptan contraseñas conocidas por filtraciones, salvo las muy comunes: {0} no está definida."

        # Packages/Server/AdminPanel/Translations/PanelLanguages.swift

        msgid "same as the browser"
        msgstr "como el navegador"

        # Packages/Server/AdminPanel/Trash/EmptyingContent.swift

        msgid "{0} There is more."
        msgstr "{0} Quedan más."

        msgid "{0} group"
        msgid_plural "{0} groups"
        msgstr[0] "{0} grupo"
        msgstr[1] "{0} grupos"

        msgid "{0} in {1} was deleted permanently."
        msgid_plural "{0} in {1} were deleted permanently."
        msgstr[0] "Se eliminó definitivamente {0} en {1}."
        msgstr[1] "Se eliminaron definitivamente {0} en {1}."

        # Packages/Server/AdminPanel/Trash/EmptyingPages.swift

        msgid "Delete all of it permanently"
        msgstr "Eliminar todo definitivamente"

        msgid "None of it can be deleted permanently yet: the app keeps it."
        msgstr "Por ahora no se puede eliminar definitivamente nada de ello: la aplicación lo conserva."

        msgid "Empty the trash of {0}?"
        msgstr "¿Vaciar la papelera de {0}?"

        msgid "Empty the trash?"
        msgstr "¿Vaciar la papelera?"

        msgid "The trash was emptied"
        msgstr "Se vació la papelera"

        msgid "Emptying the trash"
        msgstr "Vaciando la papelera"

        msgid "There is nothing in the trash that you may delete permanently."
        msgstr "En la papelera no hay nada que pueda eliminar definitivamente."

        msgid "The form doesn't say where to continue."
        msgstr "El formulario no indica dónde continuar."

        msgid "Start over."
        msgstr "Empiece de nuevo."

        # Packages/Server/AdminPanel/Trash/PurgeContent.swift

        msgid "not yet"
        msgstr "aún no"

        msgid "no limit"
        msgstr "sin límite"

        # Packages/Server/AdminPanel/Trash/PurgePages.swift

        msgid "Automatic purge"
        msgstr "Purga automática"

        msgid "{0} What couldn't be deleted is listed below."
        msgstr "{0} Abajo se muestra lo que no se pudo eliminar."

        msgid "Another process is purging the trash."
        msgstr "Otro proceso está purgando la papelera."

        msgid "The list of runs shows its run."
        msgstr "Su ejecución está en la lista de ejecuciones."

        # Packages/Server/AdminPanel/Trash/RestoreForm.swift

        msgid "The form names an invalid object."
        msgstr "El formulario menciona un objeto que no es válido."

        msgid "The form has an invalid choice."
        msgstr "El formulario tiene una opción que no es válida."

        # Packages/Server/AdminPanel/Trash/TrashAccess.swift

        msgid "No class with this name has a trash that you may view."
        msgstr "Ninguna clase con este nombre tiene una papelera que usted pueda ver."

        # Packages/Server/AdminPanel/Trash/TrashConfirmContent.swift

        msgid "The app couldn't be asked about every object. Objects that it keeps stay in the trash."
        msgstr "No se ha podido preguntar a la aplicación por todo. Lo que conserva se queda en la papelera."

        # Packages/Server/AdminPanel/Trash/TrashGroupContent.swift

        msgid "Restore all {0}"
        msgstr "Restaurar todo ({0})"

        msgid "A live {0} has the same {1}."
        msgstr "Un objeto activo ({0}) tiene el mismo valor en {1}."

        msgid "Restore it with another {0}"
        msgstr "Restaurarlo con otro valor en {0}"

        msgid "Leave it in the trash, and restore the rest"
        msgstr "Dejarlo en la papelera y restaurar el resto"

        msgid "Move the live {0} into the trash instead"
        msgstr "Mover a la papelera el objeto activo ({0}) en su lugar"

        # Packages/Server/AdminPanel/Trash/TrashPages.swift

        msgid "Trash"
        msgstr "Papelera"

        msgid "Delete permanently"
        msgstr "Eliminar definitivamente"

        msgid "the {0} {1}"
        msgstr "{0} «{1}»"

        msgid "{0} was deleted permanently."
        msgid_plural "{0} were deleted permanently."
        msgstr[0] "Se eliminó definitivamente {0}."
        msgstr[1] "Se eliminaron definitivamente {0}."

        msgid "There is nothing in the trash at this address."
        msgstr "No hay nada en la papelera en esta dirección."

        msgid "Somebody may have restored it or deleted it permanently. The trash lists what there is."
        msgstr "Puede que alguien lo haya restaurado o eliminado definitivamente. La papelera muestra lo que hay."

        # Packages/Server/AdminService/AdminAddress.swift

        msgid "{0} is '{1}': give the address of this server, without spaces, such as https://admin.example.org."
        msgstr "{0} es «{1}»: indique la dirección de este servidor, sin espacios, por ejemplo https://admin.example.org."

        # Packages/Server/AdminService/Audit/AuditFilter.swift

        msgid "The audit log can't be filtered by one of these parameters."
        msgstr "El registro de auditoría no se puede filtrar por uno de los parámetros."

        msgid "The filters are {0}."
        msgstr "Existen: {0}."

        msgid "'{0}' occurs twice."
        msgstr "«{0}» aparece dos veces."

        msgid "Give each parameter once."
        msgstr "Indique cada parámetro una sola vez."

        msgid "'text' is empty."
        msgstr "«text» está vacío."

        msgid "Leave it out to see all entries."
        msgstr "Omítalo para ver todas las entradas."

        msgid "'limit' must be a number from 1 to {0}."
        msgstr "«limit» debe ser un número de 1 a {0}."

        msgid "'{0}' isn't a date or time."
        msgstr "«{0}» no es una fecha ni una hora."

        msgid "Write 2026-05-14 or 2026-05-14T13:22:18Z."
        msgstr "Escriba 2026-05-14 o 2026-05-14T13:22:18Z."

        msgid "There is no such {0}."
        msgstr "Ese valor de {0} no existe."

        # Packages/Server/AdminService/Audit/AuditPutBack.swift

        msgid "The body doesn't say what to put back."
        msgstr "El cuerpo no indica qué recuperar."

        msgid "There is no object with this id."
        msgstr "No existe ningún objeto con este ID."

        msgid "The object was deleted."
        msgstr "El objeto se eliminó."

        msgid "Put back the entry that deleted it, or a version."
        msgstr "Recupere la entrada de su eliminación o una versión."

        msgid "The object is in the trash."
        msgstr "El objeto está en la papelera."

        msgid "Restore it from the trash first."
        msgstr "Restáurelo primero desde la papelera."

        msgid "The object's history has no such entry."
        msgstr "El historial del objeto no tiene esa entrada."

        msgid "The entry didn't change all of these properties."
        msgstr "La entrada no cambió todas estas propiedades."

        msgid "It changed {0}."
        msgstr "Cambió {0}."

        msgid "The entry has nothing to put back."
        msgstr "La entrada no tiene nada que recuperar."

        msgid "Use the trash's own routes to move objects into the trash and out of it."
        msgstr "Los objetos se sacan de la papelera, y se mueven a ella, con las rutas de la propia papelera."

        msgid "'values' has an unknown property, or a value that doesn't fit its property."
        msgstr "«values» contiene algo que no es una propiedad, o que no es un valor de ella."

        msgid "Start from the object's history."
        msgstr "Vaya por el historial del objeto."

        # Packages/Server/AdminService/Audit/AuditQuery.swift

        msgid "The search took longer than {0} seconds."
        msgstr "La búsqueda tarda más de {0} segundos."

        msgid "Give a class, an object or a user, or a shorter period with 'from' and 'to'."
        msgstr "Indique una clase, un objeto, un usuario o un período más corto con «from» y «to»."

        # Packages/Server/AdminService/Audit/AuditView.swift

        msgid "There is no such class."
        msgstr "Esa clase no existe."

        msgid "Not permitted to see the audit log of {0}."
        msgstr "No permitido: no puede ver el registro de auditoría de {0}."

        # Packages/Server/AdminService/Backups/Backups+People.swift

        msgid "The folder for backups can't be used."
        msgstr "No se puede usar la carpeta de copias de seguridad."

        msgid "There is no such backup."
        msgstr "Esa copia de seguridad no existe."

        msgid "It may have been deleted. The list shows the existing ones."
        msgstr "Puede que se haya eliminado. La lista muestra las que hay."

        msgid "There are already {0} backups, so none was made."
        msgstr "Ya hay {0} copias de seguridad, así que no se creó ninguna."

        msgid "First delete some that you don't need."
        msgstr "Elimine primero algunas que no necesite."

        msgid "A backup is already being made."
        msgstr "Ya se está creando una copia de seguridad."

        msgid "It appears in the list when it's done."
        msgstr "Aparecerá en la lista en cuanto esté lista."

        msgid "Wait until it's done."
        msgstr "Espere a que termine."

        msgid "{0} backups are already being downloaded."
        msgstr "Ya se están descargando {0} copias de seguridad."

        msgid "Try again when one of the downloads has finished."
        msgstr "Vuelva a intentarlo cuando termine una de las descargas."

        # Packages/Server/AdminService/Backups/ByteSize.swift

        msgid "{0} bytes"
        msgstr "{0} bytes"

        # Packages/Server/AdminService/Inspector/GatewayInquiry.swift

        msgid "The request is too long."
        msgstr "La consulta es demasiado larga."

        msgid "Use shorter ids."
        msgstr "Pregunte con ID más cortos."

        msgid "Too many questions to the gateways are waiting for answers."
        msgstr "Hay demasiadas consultas a las pasarelas esperando respuesta."

        msgid "Try again in a few seconds."
        msgstr "Vuelva a intentarlo en unos segundos."

        msgid "It gave no reason."
        msgstr "No indicó ningún motivo."

        # Packages/Server/AdminService/Jobs/JobService.swift

        msgid "jobs that ended long ago were deleted"
        msgstr "tareas terminadas hace tiempo eliminadas"

        # Packages/Server/AdminService/ModelChanges/DocumentEditError+Words.swift

        msgid "There is {0} problem."
        msgid_plural "There are {0} problems."
        msgstr[0] "Hay {0} problema."
        msgstr[1] "Hay {0} problemas."

        msgid "The models or rules in the database have changed since this page was made."
        msgstr "Los modelos o las reglas de la base de datos han cambiado desde que se generó esta página."

        msgid "The database user in {0} can't be used. {1}"
        msgstr "El usuario de la base de datos de {0} no se puede usar. {1}"

        msgid "The database in {0} can't be reached: {1}"
        msgstr "No se puede acceder a la base de datos de {0}: {1}"

        msgid "Nothing was done. Check what would happen now, then decide again."
        msgstr "No se hizo nada. Vea qué pasaría ahora y decida de nuevo."

        msgid "Try again in a moment."
        msgstr "Vuelva a intentarlo en un momento."

        msgid "docs/database-roles.md explains how to create a user for it."
        msgstr "docs/database-roles.md explica cómo crear un usuario para ello."

        msgid "See the server's log and PostgreSQL's for details."
        msgstr "Los registros del servidor y de PostgreSQL contienen más detalles."

        # Packages/Server/AdminService/ModelChanges/ModelChanges.swift

        msgid "Another model change is under way on this server."
        msgstr "Ya hay otro cambio de un modelo en curso en este servidor."

        # Packages/Server/AdminService/People/GrantClass.swift

        msgid "The request doesn't say which class grants the role."
        msgstr "No se indica qué clase otorga el rol."

        msgid "No app's rules have grants: see docs/rules.md."
        msgstr "Las reglas de ninguna aplicación tienen grants: véase docs/rules.md."

        msgid "There is no class '{0}' that grants roles."
        msgstr "Ninguna clase «{0}» otorga roles."

        msgid "Classes that grant roles: {0}."
        msgstr "Clases que los otorgan: {0}."

        msgid "an object"
        msgstr "un objeto"

        msgid "Roles that {0} grants apply everywhere."
        msgstr "Los roles que otorga {0} se aplican en todas partes."

        msgid "Leave 'scope' out."
        msgstr "Omita «scope»."

        msgid "'scope' isn't the key of {0}."
        msgstr "«scope» no es la clave de {0}."

        msgid "The server can't generate keys for {0}."
        msgstr "El servidor no puede crear claves para {0}."

        msgid "'role' isn't the name of a role."
        msgstr "«role» no es el nombre de un rol."

        msgid "Roles: {0}."
        msgstr "Roles: {0}."

        msgid "There is no role '{0}'."
        msgstr "No existe el rol «{0}»."

        msgid "The role '{0}' applies within {1}."
        msgstr "El rol «{0}» solo existe dentro de {1}."

        msgid "The role '{0}' applies everywhere."
        msgstr "El rol «{0}» se aplica en todas partes."

        msgid "The {0} that the role is for doesn't exist."
        msgstr "El objeto al que se refiere el rol ({0}) no existe."

        msgid "It may have been deleted."
        msgstr "Puede que se haya eliminado."

        msgid "The {0} that the role is for is in the trash."
        msgstr "El objeto al que se refiere el rol ({0}) está en la papelera."

        msgid "Try again when somebody has restored it."
        msgstr "Vuelva a intentarlo cuando alguien lo haya restaurado."

        msgid "Choose what the role is for, or nothing for a role that applies everywhere."
        msgstr "Elija dónde vale el rol, o nada para un rol que vale en todas partes."

        msgid "Grant the role in an app or through /api, where the caller chooses the key."
        msgstr "Asigne el rol en una aplicación o mediante /api, donde se elige la clave."

        msgid "Choose which one."
        msgstr "Elija cuál."

        # Packages/Server/AdminService/People/InvitationDesk+Accepting.swift

        msgid "You are logged in with a different address than the invited one."
        msgstr "Ha iniciado sesión con una dirección distinta de la de la invitación."

        msgid "Log in with that address, or create an account from the invitation's link."
        msgstr "Inicie sesión con esa dirección, o cree una cuenta desde el enlace de la invitación."

        msgid "This invitation wasn't sent by e-mail, so it doesn't prove that the address is yours."
        msgstr "Esta invitación no se envió por correo electrónico, así que no demuestra que la dirección sea suya."

        msgid "Log in with an account that has the address, then accept the invitation."
        msgstr "Inicie sesión con una cuenta que tenga la dirección y acepte entonces la invitación."

        msgid "This invitation isn't valid: its link is incomplete, or a newer invitation has replaced it."
        msgstr "Esta invitación no es válida: su enlace está incompleto o una invitación más reciente la ha sustituido."

        msgid "Use the link in the newest mail."
        msgstr "Use el enlace del correo más reciente."

        msgid "The invitation has expired."
        msgstr "La invitación ha caducado."

        msgid "Ask for a new one."
        msgstr "Pida una nueva."

        msgid "The role '{0}' no longer exists."
        msgstr "El rol «{0}» ya no existe."

        msgid "Ask for a new invitation."
        msgstr "Pida una nueva invitación."

        msgid "The person who invited you may no longer grant the role '{0}'."
        msgstr "La persona que le invitó ya no puede otorgar el rol «{0}»."

        msgid "Ask somebody else for an invitation."
        msgstr "Pida una invitación a otra persona."

        msgid "Somebody else has the role '{0}' here, and only one person can have it."
        msgstr "Otra persona tiene aquí el rol «{0}», que solo puede tener una."

        msgid "They can hand it over to you."
        msgstr "Esa persona puede traspasárselo."

        msgid "Log in, then accept the invitation."
        msgstr "Inicie sesión y acepte entonces la invitación."

        msgid "Somebody else got the role at the same time."
        msgstr "Otra persona recibió el rol al mismo tiempo."

        msgid "Check who has it now."
        msgstr "Compruebe quién lo tiene ahora."

        # Packages/Server/AdminService/People/InvitationDesk.swift

        msgid "This requires a user who is logged in."
        msgstr "Esto requiere un usuario."

        msgid "The invitation has already been accepted."
        msgstr "La invitación ya se aceptó."

        msgid "There is nothing to do."
        msgstr "No hay nada que hacer."

        msgid "The invitation was revoked."
        msgstr "La invitación se revocó."

        msgid "Nothing grants this invitation's role any more."
        msgstr "Nada otorga ya el rol de esta invitación."

        msgid "The app's rules have changed: ask for a new invitation."
        msgstr "Las reglas de la aplicación han cambiado: pida una nueva invitación."

        msgid "It may have been withdrawn."
        msgstr "Quizá se haya retirado."

        # Packages/Server/AdminService/People/PeopleRoutes+Asking.swift

        msgid "roles"
        msgstr "roles"

        # Packages/Server/AdminService/People/PeopleRoutes+Invitations.swift

        msgid "anyone who is logged in and has a token for their address"
        msgstr "quien haya iniciado sesión, con un token para su dirección"

        # Packages/Server/AdminService/People/RoleTransfer.swift

        msgid "'scope' is missing."
        msgstr "Falta «scope»."

        msgid "'to' isn't the id of a user."
        msgstr "«to» no es el ID de un usuario."

        msgid "Somebody else gave the role to another user at the same time."
        msgstr "Otra persona otorgó el rol a otro usuario al mismo tiempo."

        msgid "Check who has it now before you go on."
        msgstr "Compruebe quién lo tiene ahora antes de continuar."

        msgid "The request doesn't say which role to hand over."
        msgstr "No se indica qué rol traspasar."

        msgid "The rules have no role that can be handed over: add 'exclusive' to their grants, see docs/rules.md."
        msgstr "Las reglas no tienen ningún rol así: añada «exclusive» a sus grants, véase docs/rules.md."

        msgid "The role '{0}' can't be handed over, only given and taken away."
        msgstr "El rol «{0}» no se traspasa; se otorga y se quita."

        msgid "Roles that can be handed over: {0}."
        msgstr "Roles que se traspasan: {0}."

        msgid "Several users have the role '{0}' here."
        msgstr "Varios usuarios tienen aquí el rol «{0}»."

        msgid "Take it from all but one of them, then hand it over."
        msgstr "Quíteselo a todos menos a uno y traspáselo después."

        msgid "The user already has the role '{0}'."
        msgstr "El usuario ya tiene el rol «{0}»."

        msgid "There is no user with this id who can log in."
        msgstr "No existe ningún usuario con este ID que pueda iniciar sesión."

        msgid "Hand it over to somebody with an account, or invite them first."
        msgstr "Traspáselo a alguien que tenga una cuenta, o invítelo primero."

        # Packages/Server/AdminService/Permissions/AccountAuthority.swift

        msgid "Not permitted: you can't change whether your own address is verified."
        msgstr "No permitido: usted no puede decir si su propia dirección está verificada."

        msgid "Not permitted: they may see the permission matrix of {0}, but you may not."
        msgstr "No permitido: esa persona puede ver la matriz de permisos de {0}, y usted no."

        msgid "Not permitted: they may change the permission matrix of {0}, but you may not."
        msgstr "No permitido: esa persona puede cambiar la matriz de permisos de {0}, y usted no."

        msgid "Not permitted: they may {0} objects of {1} that you may not."
        msgstr "No permitido: esa persona puede {0} objetos de {1} que usted no."

        msgid "Not permitted: they may read properties of {0} that you may not."
        msgstr "No permitido: esa persona puede leer propiedades de {0} que usted no."

        msgid "You can't change the account of somebody who may do more than you."
        msgstr "No puede cambiar la cuenta de alguien que puede hacer más que usted."

        # Packages/Server/AdminService/Permissions/RouteAccess+Accounts.swift

        msgid "see accounts"
        msgstr "ver cuentas"

        msgid "Not permitted: no role lets you see accounts."
        msgstr "No permitido: ningún rol le permite ver cuentas."

        msgid "change accounts"
        msgstr "cambiar cuentas"

        msgid "Not permitted: no role lets you change accounts."
        msgstr "No permitido: ningún rol le permite cambiar cuentas."

        # Packages/Server/AdminService/Permissions/RouteAccess+AnyMatrix.swift

        msgid "the permission matrix of any app"
        msgstr "la matriz de permisos de cualquier aplicación"

        msgid "Not permitted: no app's rules let you {0} its permission matrix."
        msgstr "No permitido: las reglas de ninguna aplicación le permiten {0} su matriz de permisos."

        # Packages/Server/AdminService/Permissions/RouteAccess+EveryMatrix.swift

        msgid "the permission matrix of every app"
        msgstr "la matriz de permisos de todas las aplicaciones"

        msgid "Not permitted: this page is for super administrators."
        msgstr "No permitido: esta página es para superadministradores."

        msgid "Super administrators may change the permission matrix of every app."
        msgstr "Son quienes pueden cambiar la matriz de permisos de todas las aplicaciones."

        # Packages/Server/AdminService/Permissions/RouteAccess+Inspecting.swift

        msgid "objects of any class"
        msgstr "objetos de cualquier clase"

        # Packages/Server/AdminService/Permissions/RouteAccess+Matrix.swift

        msgid "the permission matrix"
        msgstr "la matriz de permisos"

        msgid "No app's rules have a permission matrix."
        msgstr "Las reglas de ninguna aplicación tienen una matriz de permisos."

        msgid "Add a section 'matrix' to the rules: see docs/rules.md."
        msgstr "Añada una sección «matrix» a las reglas: véase docs/rules.md."

        msgid "Several apps have a permission matrix."
        msgstr "Varias aplicaciones tienen una matriz de permisos."

        msgid "Name one with ?app=: {0}."
        msgstr "Indique una con ?app=: {0}."

        msgid "No app with this name has a permission matrix."
        msgstr "No existe esa aplicación con una matriz de permisos."

        msgid "Apps with one: {0}."
        msgstr "Existen: {0}."

        # Packages/Server/AdminService/Permissions/ViewAs.swift

        msgid "There is no account with this id that may log in."
        msgstr "No existe ninguna cuenta con este ID que pueda iniciar sesión."

        msgid "The app '{0}' has no role '{1}' in its matrix."
        msgstr "La aplicación «{0}» no tiene el rol «{1}» en su matriz."

        msgid "Not permitted: they may see accounts, but you may not."
        msgstr "No permitido: esa persona puede ver cuentas, y usted no."

        msgid "Not permitted: no role lets you inspect what others see."
        msgstr "No permitido: ningún rol le permite inspeccionar lo que ven otras personas."

        msgid "The rules permit it with operations: {inspect: true}; see docs/rules.md."
        msgstr "Las reglas lo permiten con operations: {inspect: true}; véase docs/rules.md."

        msgid "You can't view as somebody who may see more than you."
        msgstr "No puede ver el panel como alguien que puede ver más que usted."

        # Packages/Server/AdminService/Requests/KeptRequests+Reading.swift

        msgid "Choose the last day, a user, or the id of a request."
        msgstr "Elija el último día, un usuario o el ID de una solicitud."

        # Packages/Server/AdminService/Requests/RequestExpiryService.swift

        msgid "{0} request was deleted"
        msgid_plural "{0} requests were deleted"
        msgstr[0] "{0} solicitud eliminada"
        msgstr[1] "{0} solicitudes eliminadas"

        # Packages/Server/AdminService/Restores/Backups+RestoringPeople.swift

        msgid "There is no such database."
        msgstr "Esa base de datos no existe."

        msgid "It may have been deleted, or be in use again. The list shows the existing ones."
        msgstr "Puede que se haya eliminado o que esté de nuevo en uso. La lista contiene las que hay."

        # Packages/Server/AdminService/SQL/SQLPower.swift

        msgid "The database user in {0} is a superuser."
        msgstr "El usuario de base de datos de {0} es un superusuario."

        msgid "The database user in {0} bypasses row-level security (BYPASSRLS)."
        msgstr "El usuario de base de datos de {0} omite la seguridad por filas (BYPASSRLS)."

        msgid "The database user in {0} may replicate (REPLICATION)."
        msgstr "El usuario de base de datos de {0} puede replicar (REPLICATION)."

        msgid "The database user in {0} may create roles (CREATEROLE)."
        msgstr "El usuario de base de datos de {0} puede crear roles (CREATEROLE)."

        msgid "The database user in {0} is a member of {1}."
        msgstr "El usuario de base de datos de {0} es miembro de {1}."

        msgid "The database user in {0} may read secrets in {1}."
        msgstr "El usuario de base de datos de {0} puede leer secretos en {1}."

        msgid "The database user in {0} may write to {1}."
        msgstr "El usuario de base de datos de {0} puede escribir en {1}."

        # Packages/Server/AdminService/SQL/SQLProblem.swift

        msgid "There is no statement."
        msgstr "No hay ninguna sentencia."

        msgid "The statement is longer than {0} bytes."
        msgstr "La sentencia tiene más de {0} bytes."

        msgid "This server is already running as many statements as it allows at a time."
        msgstr "Se están ejecutando otras sentencias, y este servidor no ejecuta más a la vez."

        msgid "{0} Nothing was run."
        msgstr "{0} Por eso no se ejecutó nada."

        msgid "{0} points to a connection pooler in transaction mode, where statements could affect other sessions. Nothing was run."
        msgstr "{0} lleva a un agrupador de conexiones en modo de transacción, donde las sentencias podrían afectar a otras. Por eso no se ejecutó nada."

        msgid "The database in {0} can't be reached. The server's log says why."
        msgstr "No se puede acceder a la base de datos de {0}. El registro del servidor indica por qué."

        msgid "The result is too large: the database sent more than this page reads."
        msgstr "La respuesta es demasiado grande: la base de datos envió más de lo que lee esta página."

        msgid "The statement kept running after its time limit, so its connection was closed."
        msgstr "La sentencia siguió tras agotarse su tiempo, por lo que se cerró su conexión."

        msgid "Enter one."
        msgstr "Introduzca una."

        msgid "Shorten it."
        msgstr "Acórtela."

        msgid "Run it again in a few seconds."
        msgstr "Ejecútela de nuevo en unos segundos."

        msgid "docs/database-roles.md explains how to create a user that may only read."
        msgstr "docs/database-roles.md explica cómo crear un usuario que solo pueda leer."

        msgid "Connect to PostgreSQL directly."
        msgstr "Conéctese a PostgreSQL directamente."

        msgid "Select fewer columns, or the beginning of long ones, such as left(text, 100)."
        msgstr "Seleccione menos columnas, o el principio de las largas, como left(text, 100)."

        msgid "A statement may run for only a few seconds. Select less, or use psql."
        msgstr "Una sentencia solo puede ejecutarse durante unos segundos. Seleccione menos o use psql."

        # Packages/Server/AdminService/Schedule/Schedule+Asking.swift

        msgid "No server has ever run this job."
        msgstr "Ningún servidor ha ejecutado todavía esta tarea."

        msgid "It runs by itself as soon as a server that runs it is started."
        msgstr "Se ejecutará por sí sola en cuanto se inicie un servidor que se encargue de ella."

        msgid "This job is already running."
        msgstr "Esta tarea ya se está ejecutando."

        msgid "There is no job with this name that you can run."
        msgstr "No hay ninguna tarea con ese nombre que pueda ejecutar."

        # Packages/Server/AdminService/Schedule/Schedule.swift

        msgid "{0} objects in {1} groups were deleted permanently, {2} groups stayed"
        msgstr "{0} objetos en {1} grupos eliminados definitivamente, {2} grupos conservados"

        msgid "{0} objects in {1} groups were deleted permanently"
        msgstr "{0} objetos en {1} grupos eliminados definitivamente"

        msgid "{0} entries; earlier objects of {1} classes are missing"
        msgstr "{0} entradas; de {1} clases aún faltan los objetos anteriores"

        msgid "{0} entries"
        msgstr "{0} entradas"

        msgid "{0} jobs are waiting, {1} are running"
        msgstr "{0} tareas en espera, {1} en curso"

        # Packages/Server/AdminService/Settings/ChangeableSetting.swift

        msgid "Enter a value, or use the default."
        msgstr "Introduzca un valor o use el predeterminado."

        msgid "Enter a value."
        msgstr "Introduzca un valor."

        msgid "This is longer than {0} bytes."
        msgstr "Esto ocupa más de {0} bytes."

        msgid "Leave out line breaks and other control characters."
        msgstr "Quite los saltos de línea y otros caracteres de control."

        msgid "Enter an address that begins with https://, without a user or password."
        msgstr "Introduzca una dirección que empiece por https://, sin usuario ni contraseña."

        msgid "Enter an address that begins with https:// or http://, without a user or password."
        msgstr "Introduzca una dirección que empiece por https:// o http://, sin usuario ni contraseña."

        msgid "Enter a number of hours from 1 to {0}, or 0 for no automatic backups."
        msgstr "Introduzca un número de horas de 1 a {0}, o 0 para no hacer copias de seguridad automáticas."

        msgid "Enter a number of backups from 1 to {0}."
        msgstr "Introduzca un número de copias de seguridad de 1 a {0}."

        # Packages/Server/AdminService/Settings/MapTiles.swift

        msgid "{0} is '{1}': {2}, such as {3}."
        msgstr "{0} es «{1}»: {2}, por ejemplo {3}."

        msgid "give the address of a map's tiles, without spaces"
        msgstr "indique la dirección de las teselas de un mapa, sin espacios"

        msgid "check the host and the port of the address"
        msgstr "compruebe el host y el puerto de la dirección"

        msgid "give an address with https; http is for localhost only"
        msgstr "indique una dirección con https, pues http solo vale para localhost"

        msgid "{0} is missing; give an address with {z}, {x} and {y}"
        msgstr "falta {0}, indique una dirección con {z}, {x} e {y}"

        msgid "leave out '#' and all braces other than those of {z}, {x} and {y}"
        msgstr "quite «#» y las llaves que no sean las de {z}, {x} e {y}"

        # Packages/Server/AdminService/Trash+Members.swift

        msgid "There is nothing in the trash with this id."
        msgstr "No hay nada en la papelera con este ID."

        msgid "The group has more than {0} objects."
        msgstr "El grupo tiene más de {0} objetos."

        msgid "Somebody may have restored it, or deleted it permanently."
        msgstr "Quizá alguien lo ha restaurado o eliminado definitivamente."

        msgid "Choose the objects one by one."
        msgstr "Tómelos uno por uno."

        # Packages/Server/AdminService/Trash+Panel.swift

        msgid "objects of a class with a trash"
        msgstr "objetos de una clase con papelera"

        # Packages/Server/AdminService/Trash+Purging.swift

        msgid "Not permitted to delete all the objects permanently."
        msgstr "No permitido: no puede eliminarlo todo definitivamente."

        msgid "{0} {1} can't be deleted permanently: {2}."
        msgstr "{0} {1} no se puede eliminar definitivamente: {2}."

        msgid "Remove whatever prevents it, or delete the other objects of the group one by one."
        msgstr "Quite lo que lo retiene, o elimine los demás objetos del grupo uno por uno."

        msgid "'{0}' refers to it"
        msgstr "hay una referencia desde «{0}»"

        msgid "another table refers to it"
        msgstr "hay una referencia desde otra tabla"

        msgid "it would break '{0}'"
        msgstr "se incumpliría «{0}»"

        msgid "the database says '{0}'"
        msgstr "la base de datos indica «{0}»"

        # Packages/Server/AdminService/Trash+Restoring.swift

        msgid "Not permitted to restore all the objects."
        msgstr "No permitido: no puede restaurarlo todo."

        msgid "{0} isn't one of the objects to restore."
        msgstr "{0} no está entre los objetos que se van a restaurar."

        msgid "Nothing is left to restore: all the objects would stay in the trash."
        msgstr "Todo se quedaría en la papelera."

        msgid "A restore can only change unique properties of {0}."
        msgstr "Una restauración solo cambia propiedades únicas de {0}."

        msgid "{0} has none."
        msgstr "{0} no tiene ninguna."

        msgid "The new {0} of {1} doesn't fit the property's type."
        msgstr "El nuevo valor de {0} en {1} no es un valor de la propiedad."

        msgid "The new {0} of {1} is refused: {2}"
        msgstr "El nuevo valor de {0} en {1} se rechaza: {2}"

        msgid "Not permitted to give {0} {1} these values."
        msgstr "No permitido: no puede dar estos valores a {0} {1}."

        msgid "Not permitted to move the live {0} into the trash instead."
        msgstr "No permitido: no puede mover a la papelera el objeto activo ({0}) en su lugar."

        msgid "The {0} that this {1} belongs to is in the trash too."
        msgstr "El objeto ({0}) al que pertenece este ({1}) también está en la papelera."

        msgid "Restore the {0} {1} first."
        msgstr "Restaure primero {0} {1}."

        # Packages/Server/AdminService/Trash.swift

        msgid "More than {0} objects would go into the trash with this {1}."
        msgstr "Más de {0} objetos irían a la papelera con este objeto ({1})."

        msgid "First move the objects that link to it into the trash, in parts."
        msgstr "Mueva primero a la papelera, por partes, lo que enlaza con él."

        # Packages/Server/AdminService/TrashAddress.swift

        msgid "The address contains neither an object's id nor a group's."
        msgstr "La dirección no contiene ni el ID de un objeto ni el de un grupo."

        msgid "Start from the list of the trash."
        msgstr "Vaya por la lista de la papelera."

        # Packages/Server/AdminService/TrashClash.swift

        msgid "A live {0} has the same {1}; nothing was restored."
        msgstr "Un objeto activo ({0}) tiene el mismo valor en {1}; no se restauró nada."

        msgid "{0} more object clashes."
        msgid_plural "{0} more objects clash."
        msgstr[0] "Hay {0} objeto más en conflicto."
        msgstr[1] "Hay {0} objetos más en conflicto."

        # Packages/Server/AdminService/TrashEmptying.swift

        msgid "{0} {1} of this group isn't included, or you may not delete it permanently."
        msgstr "{0} {1}, de este grupo, no forma parte de la selección, o no tiene permiso para eliminarlo definitivamente."

        # Packages/Server/JSONAPI/Description/RequestExamples+Failing.swift

        msgid "Filter the {0} by a field they don't have"
        msgstr "Filtrar {0} por un campo que no existe"

        # Packages/Server/JSONAPI/Description/RequestExamples+Writing.swift

        msgid "Create one of the {0}"
        msgstr "Crear un objeto de {0}"

        msgid "Update one of the {0}"
        msgstr "Cambiar un objeto de {0}"

        msgid "Move one of the {0} to the trash"
        msgstr "Mover un objeto de {0} a la papelera"

        msgid "Delete one of the {0} permanently"
        msgstr "Eliminar definitivamente un objeto de {0}"

        msgid "Change what '{0}' links to"
        msgstr "Cambiar los enlaces de «{0}»"

        msgid "Add to what '{0}' links to"
        msgstr "Añadir enlaces a «{0}»"

        msgid "Remove from what '{0}' links to"
        msgstr "Quitar enlaces de «{0}»"

        # Packages/Server/JSONAPI/Description/RequestExamples.swift

        msgid "List {0}"
        msgstr "Listar {0}"

        msgid "Read one of the {0}"
        msgstr "Leer un objeto de {0}"

        msgid "Read what '{0}' links to"
        msgstr "Leer lo que enlaza «{0}»"

        msgid "Read which resources '{0}' links to"
        msgstr "Leer qué recursos enlaza «{0}»"

        msgid "Filter the {0}"
        msgstr "Filtrar {0}"

        msgid "Sort the {0}"
        msgstr "Ordenar {0}"

        msgid "Show only some fields of the {0}"
        msgstr "Mostrar solo algunos campos de {0}"

        msgid "List {0} with what they link to"
        msgstr "Listar {0} con los objetos enlazados"

        msgid "The second page of the {0}, with the total"
        msgstr "La segunda página de {0}, con el número total"

        msgid "The page of the {0} after a cursor"
        msgstr "La página de {0} a partir de un cursor"

        # Packages/Server/JSONAPI/Export/ExportPlaces.swift

        msgid "You have {0} exports under way; the limit is {1}."
        msgstr "Tiene {0} exportaciones en curso, y como máximo puede haber {1}."

        msgid "Try again when one of them has finished."
        msgstr "Vuelva a intentarlo cuando termine una de ellas."

        msgid "Your address has {0} exports under way; the limit is {1}."
        msgstr "Su dirección tiene {0} exportaciones en curso, y como máximo puede haber {1}."

        msgid "The server has {0} exports under way; the limit is {1}."
        msgstr "El servidor tiene {0} exportaciones en curso, y como máximo puede haber {1}."

        # Packages/Server/JSONAPI/Imports/CSVDecoder.swift

        msgid "The file ends inside this quoted cell."
        msgstr "El archivo termina dentro de esta celda, que está entre comillas."

        msgid "Close the quotes, or send the whole file."
        msgstr "Cierre las comillas o envíe el archivo completo."

        msgid "There is a NUL byte, which text can't contain."
        msgstr "Hay un byte NUL, que ningún texto contiene."

        msgid "Save the file as 'CSV UTF-8', and import that. This may be another kind of file."
        msgstr "Guarde el archivo como «CSV UTF-8» e impórtelo. Puede que este sea otro tipo de archivo."

        msgid "The cell continues after its closing quotes."
        msgstr "Hay algo después de las comillas de cierre de la celda."

        msgid "Double the quotes that belong to the text: \"say \"\"hello\"\"\"."
        msgstr "Duplique las comillas que pertenecen al texto: \"diga \"\"hola\"\"\"."

        msgid "The cell contains quotes but doesn't begin with quotes."
        msgstr "Hay comillas dentro de una celda que no empieza con comillas."

        msgid "Put the whole cell in quotes, and double those that belong to the text."
        msgstr "Ponga toda la celda entre comillas y duplique las que pertenecen al texto."

        msgid "The cell has more than {0} bytes."
        msgstr "La celda tiene más de {0} bytes."

        msgid "Shorten it. If it isn't that long, its quotes may not be closed."
        msgstr "Acórtela. Si no es tan larga, puede que sus comillas no estén cerradas."

        msgid "The row has more than {0} bytes."
        msgstr "La fila tiene más de {0} bytes."

        msgid "Leave some columns out."
        msgstr "Omita columnas."

        msgid "The row has more than {0} cells."
        msgstr "La fila tiene más de {0} celdas."

        msgid "The cell isn't UTF-8, unlike the text before it."
        msgstr "La celda no es UTF-8, a diferencia del texto anterior."

        msgid "Save the whole file as 'CSV UTF-8', and import that."
        msgstr "Guarde el archivo completo como «CSV UTF-8» e impórtelo."

        # Packages/Server/JSONAPI/Imports/ImportDesk.swift

        msgid "The import has already been started or cancelled: it's {0}."
        msgstr "La importación ya se inició o se canceló; estado: {0}."

        msgid "Its page under Jobs shows its result."
        msgstr "Su página en Tareas indica el resultado."

        msgid "The file's upload is incomplete."
        msgstr "El archivo no está aquí completo."

        msgid "Send it again."
        msgstr "Envíelo de nuevo."

        msgid "You have no import of {0} with this number."
        msgstr "No tiene ninguna importación de {0} con este número."

        msgid "The Jobs page lists yours."
        msgstr "La página Tareas muestra las suyas."

        msgid "The file has {0} rows; the limit for all or nothing is {1}."
        msgstr "El archivo tiene {0} filas, y el modo de todo o nada admite {1} como máximo."

        msgid "Clear \"All or nothing\" to import in batches."
        msgstr "Desmarque «Todo o nada»: así se hará por lotes."

        msgid "The import would no longer do what its preview showed."
        msgstr "La importación haría algo distinto de lo que mostró su vista previa."

        msgid "Nothing was changed. Ask for another preview, then decide again."
        msgstr "No se cambió nada. Pida otra vista previa y decida de nuevo."

        msgid "Every row is refused."
        msgstr "Se rechazan todas las filas."

        msgid "Correct the file and send it again, or change the mapping."
        msgstr "Corrija el archivo y envíelo de nuevo, o asigne las columnas de otra forma."

        # Packages/Server/JSONAPI/Imports/ImportEncoding.swift

        msgid "The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts."
        msgstr "El archivo no es UTF-8, así que se leyó como Windows-1252. Revise los nombres con acentos o diéresis."

        # Packages/Server/JSONAPI/Imports/ImportFile.swift

        msgid "The file has more than {0} bytes as UTF-8."
        msgstr "El archivo tiene más de {0} bytes como UTF-8."

        msgid "Import it in parts."
        msgstr "Impórtelo por partes."

        msgid "The file has no rows."
        msgstr "El archivo no tiene filas."

        msgid "Send a header and at least one row, or JSON objects."
        msgstr "Envíe una cabecera y al menos una fila, u objetos JSON."

        msgid "The file has more than {0} rows."
        msgstr "El archivo tiene más de {0} filas."

        msgid "The row has {0} cells, but the header has {1}."
        msgstr "La fila tiene {0} celdas, y la cabecera tiene {1}."

        msgid "Put cells with separators or line breaks in quotes."
        msgstr "Ponga entre comillas las celdas con separadores o saltos de línea."

        msgid "The column has no name, or its name is longer than {0} bytes."
        msgstr "La columna no tiene nombre, o tiene uno de más de {0} bytes."

        msgid "Name every column in the first row."
        msgstr "Ponga nombre a todas las columnas en la primera fila."

        msgid "Another column is also called '{0}'."
        msgstr "Otra columna también se llama «{0}»."

        msgid "Give each column its own name."
        msgstr "Dé a cada columna su propio nombre."

        msgid "The objects have too many different member names, or names that are too long."
        msgstr "Los objetos tienen demasiados nombres distintos, o demasiado largos."

        msgid "The limit is {0} names of {1} bytes."
        msgstr "Como máximo puede haber {0} nombres de {1} bytes."

        # Packages/Server/JSONAPI/Imports/ImportFileError.swift

        msgid "Line {0}: {1}"
        msgstr "Línea {0}: {1}"

        msgid "Line {0}, column {1}: {2}"
        msgstr "Línea {0}, columna {1}: {2}"

        # Packages/Server/JSONAPI/Imports/ImportMapping+Names.swift

        msgid "Titles are read-only: change '{0}' instead."
        msgstr "Los títulos son solo para leerlos: cambie «{0}» en su lugar."

        msgid "No member was chosen for it."
        msgstr "No se ha elegido nada para ella."

        msgid "'{0}' is required."
        msgstr "«{0}» es obligatorio."

        msgid "Write a value into the cell."
        msgstr "Escriba un valor en la celda."

        msgid "Choose a column for it, or add one to the file."
        msgstr "Elija una columna para él o añada una al archivo."

        msgid "Column '{0}': {1}"
        msgstr "Columna «{0}»: {1}"

        msgid "'{0}' is required, but no column maps to it."
        msgstr "«{0}» es obligatorio y no tiene ninguna columna asignada."

        # Packages/Server/JSONAPI/Imports/ImportMapping+Row.swift

        msgid "'{0}' isn't {1}."
        msgstr "«{0}» no es {1}."

        msgid "a Boolean"
        msgstr "un valor lógico"

        msgid "Write true or false."
        msgstr "Escriba true o false."

        msgid "an integer of {0} bits"
        msgstr "un número entero de {0} bits"

        msgid "Write only digits, such as 1200."
        msgstr "Escriba solo cifras, como 1200."

        msgid "a number"
        msgstr "un número"

        msgid "Write one such as 12.5."
        msgstr "Escriba uno como 12.5."

        msgid "a decimal number"
        msgstr "un número decimal"

        msgid "Write one such as 12.50."
        msgstr "Escriba uno como 12.50."

        msgid "text without U+0000"
        msgstr "un texto sin U+0000"

        msgid "Leave that character out."
        msgstr "Omita ese carácter."

        msgid "a date and time"
        msgstr "una fecha y hora"

        msgid "Write one such as 2026-05-14T13:22:18Z, or a day such as 2026-05-14."
        msgstr "Escriba una como 2026-05-14T13:22:18Z, o un día como 2026-05-14."

        msgid "an id"
        msgstr "un ID"

        msgid "An id has 24 hexadecimal digits."
        msgstr "Un ID tiene 24 cifras hexadecimales."

        msgid "a UUID"
        msgstr "un UUID"

        msgid "Write one such as 123e4567-e89b-12d3-a456-426614174000."
        msgstr "Escriba uno como 123e4567-e89b-12d3-a456-426614174000."

        msgid "base64"
        msgstr "base64"

        msgid "Encode the bytes with the characters A-Z, a-z, 0-9, + and /, and with = at the end."
        msgstr "Escriba los bytes con los caracteres A-Z, a-z, 0-9, + y /, y = al final."

        msgid "a value of type {0}"
        msgstr "un valor de tipo {0}"

        msgid "Leave the column out."
        msgstr "Omita la columna."

        msgid "The day {0} doesn't exist: that month has {1} days."
        msgstr "El día {0} no existe: ese mes tiene {1} días."

        msgid "Write a day from 01 to {0}."
        msgstr "Escriba un día de 01 a {0}."

        msgid "a JSON object"
        msgstr "un objeto JSON"

        msgid "Write one such as {\"name\": \"value\"}."
        msgstr "Escriba uno como {\"name\": \"value\"}."

        msgid "the id of one of the {0}"
        msgstr "el ID de un objeto de {0}"

        msgid "Several of the {0} are called '{1}'."
        msgstr "En {0} hay varios con el nombre «{1}»."

        msgid "Write the id of the one you mean."
        msgstr "Escriba el ID del que busca."

        msgid "'{0}' is neither the id nor the title of one of the {1}."
        msgstr "«{0}» no es ni el ID ni el título de un objeto de {1}."

        msgid "Write {0}, or the exact title of one that you can see. {1}"
        msgstr "Escriba {0}, o el título exacto de un objeto que pueda ver. {1}"

        msgid "a JSON array of at most {0} values"
        msgstr "una lista JSON de {0} valores como máximo"

        msgid "Write one such as [\"a\", \"b\"]."
        msgstr "Escriba una como [\"a\", \"b\"]."

        # Packages/Server/JSONAPI/Imports/ImportMapping.swift

        msgid "Create new ones only"
        msgstr "Solo crear nuevos"

        msgid "Update existing ones only"
        msgstr "Solo actualizar los existentes"

        msgid "Create new ones and update existing ones"
        msgstr "Crear nuevos y actualizar los existentes"

        msgid "Two columns map to '{0}'."
        msgstr "Hay dos columnas asignadas a «{0}»."

        msgid "Choose 'nothing' for one of them."
        msgstr "Elija «nada» para una de ellas."

        msgid "No column maps to a member."
        msgstr "Ninguna columna está asignada a un miembro."

        msgid "Map at least one column to something other than 'id'."
        msgstr "Asigne al menos una columna a algo que no sea «id»."

        msgid "A column maps to 'id', but rows are matched by {0}."
        msgstr "Hay una columna asignada a «id», y las filas se identifican por {0}."

        msgid "Map it to nothing, or leave 'match' out."
        msgstr "Asígnela a «nada» u omita «match»."

        msgid "Rows are matched by {0}, but no column maps to '{1}'."
        msgstr "Las filas se identifican por {0}, y ninguna columna está asignada a «{1}»."

        msgid "Map a column to it, or match by something else."
        msgstr "Asígnele una columna o identifique las filas de otra forma."

        msgid "An update needs ids."
        msgstr "Una actualización necesita ID."

        msgid "Map a column to 'id', match by something else, or choose another mode."
        msgstr "Asigne una columna a «id», identifique las filas de otra forma o elija otro modo."

        msgid "{0} have no member '{1}'."
        msgstr "En {0} no existe el miembro «{1}»."

        msgid "Columns map both to '{0}' as a whole and to its members."
        msgstr "Hay columnas asignadas a «{0}» en conjunto y a miembros suyos."

        msgid "Map one of the two to null."
        msgstr "Omita uno de los dos: null."

        # Packages/Server/JSONAPI/Imports/ImportPlanner.swift

        msgid "Choose to update existing ones, or leave the row out."
        msgstr "Elija actualizar los existentes u omita la fila."

        msgid "The row has no value for {0}, which rows are matched by."
        msgstr "La fila no indica {0}, y las filas se identifican por ese valor."

        msgid "Write a value, or leave the row out."
        msgstr "Escriba un valor u omita la fila."

        msgid "{0} has the same {1}."
        msgstr "{0} ya tiene el mismo valor en {1}."

        msgid "Leave one of the two out."
        msgstr "Omita una de las dos."

        msgid "{0} of the {1} have this {2}."
        msgstr "Hay {0} objetos de {1} con este valor en {2}."

        msgid "Change all but one of them, or match by id."
        msgstr "Cambie todos menos uno, o identifique las filas por ID."

        msgid "There is already a resource with this {0}."
        msgstr "Ya existe un recurso con este valor en {0}."

        msgid "The resource with this {0} is in the trash."
        msgstr "El objeto con este valor en {0} está en la papelera."

        msgid "Restore it first, or leave the row out."
        msgstr "Restáurelo primero u omita la fila."

        msgid "None of the {0} that you can see has this {1}."
        msgstr "No puede ver ningún objeto de {0} con este valor en {1}."

        msgid "Correct the value, choose to create new ones, or leave the row out."
        msgstr "Corrija el valor, elija crear nuevos u omita la fila."

        msgid "The row has no id."
        msgstr "La fila no tiene ID."

        msgid "Write the id of the resource to change, or leave the row out."
        msgstr "Escriba el ID de lo que cambia u omita la fila."

        msgid "Give it one: the server doesn't generate ids for {0}."
        msgstr "Indíquelo: el servidor no crea los ID de {0}."

        msgid "{0} has the same id."
        msgstr "{0} ya tiene el mismo ID."

        msgid "There is already a resource with this id."
        msgstr "Ya existe un recurso con este ID."

        # Packages/Server/JSONAPI/Imports/ImportTextDecoder.swift

        msgid "The file ends inside a UTF-16 character."
        msgstr "El archivo termina dentro de un carácter de UTF-16."

        msgid "Send the whole file."
        msgstr "Envíe el archivo completo."

        msgid "This is an Excel workbook, or another ZIP archive."
        msgstr "Esto es un libro de Excel u otro archivo ZIP."

        msgid "This is an Excel workbook in an old format."
        msgstr "Esto es un libro de Excel de una versión antigua."

        msgid "Save it as 'CSV UTF-8' in Excel, and import that."
        msgstr "Guárdelo como «CSV UTF-8» en Excel e impórtelo."

        msgid "There is half a character: a UTF-16 surrogate without its other half."
        msgstr "Hay medio carácter: un sustituto de UTF-16 sin su otra mitad."

        msgid "The file is damaged. Save it as 'CSV UTF-8' in the program that wrote it, and import that."
        msgstr "El archivo está dañado. Guárdelo como «CSV UTF-8» en el programa que lo escribió e impórtelo."

        # Packages/Server/JSONAPI/Imports/ImportUpload.swift

        msgid "The file has more than {0} bytes."
        msgstr "El archivo tiene más de {0} bytes."

        # Packages/Server/JSONAPI/Imports/ImportWorker.swift

        msgid "You no longer have permission to do this: {0}"
        msgstr "Ya no tiene permiso para hacer esto: {0}"

        msgid "Somebody has since given the resource a different {0}."
        msgstr "Desde entonces, alguien ha cambiado en el recurso el valor de {0}."

        msgid "Import the row again, and check what it matches now."
        msgstr "Importe la fila de nuevo y vea a qué corresponde ahora."

        msgid "The row can't be read."
        msgstr "La fila no se puede leer."

        # Packages/Server/JSONAPI/Imports/JSONRowsDecoder.swift

        msgid "Send an array of objects, or one object on each line."
        msgstr "Envíe una lista de objetos, o un objeto en cada línea."

        msgid "There is something that isn't an object."
        msgstr "Hay algo que no es un objeto."

        msgid "The file ends inside the object that begins here."
        msgstr "El archivo termina dentro del objeto que empieza aquí."

        msgid "The file ends inside its array."
        msgstr "El archivo termina antes que su lista."

        msgid "There are two objects on one line."
        msgstr "Hay dos objetos en una línea."

        msgid "Begin a new line for each, or send an array."
        msgstr "Empiece una línea nueva para cada uno, o envíe una lista."

        msgid "The object has more than {0} bytes."
        msgstr "El objeto tiene más de {0} bytes."

        msgid "More than {0} objects and arrays are nested in each other."
        msgstr "Hay más de {0} objetos y listas anidados."

        msgid "Send flatter objects."
        msgstr "Envíe objetos con menos niveles."

        msgid "The object isn't valid JSON in UTF-8."
        msgstr "El objeto no es JSON válido en UTF-8."

        msgid "The object has more than {0} members."
        msgstr "El objeto tiene más de {0} miembros."

        msgid "Leave some out."
        msgstr "Omita algunos."

        # Packages/Server/JSONAPI/Imports/JobStore+Import.swift

        msgid "You have {0} imports that you haven't started; the limit is {1}."
        msgstr "Tiene {0} importaciones sin iniciar, y como máximo puede haber {1}."

        msgid "Start or discard one: the Jobs page lists them."
        msgstr "Inicie o descarte una: la página Tareas las muestra."

        msgid "The import was discarded while its file was being uploaded."
        msgstr "La importación se descartó mientras se enviaba su archivo."

        msgid "Import the file again."
        msgstr "Importe el archivo de nuevo."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Export.swift

        msgid "unknown format."
        msgstr "ese formato no existe."

        msgid "Send one of {0}."
        msgstr "Envíe uno de: {0}."

        msgid "it must be 'guarded' or 'plain'."
        msgstr "no es «guarded» ni «plain»."

        msgid "Leave it out for 'guarded'."
        msgstr "Omítalo para «guarded»."

        msgid "it must be 'true' or 'false'."
        msgstr "no es «true» ni «false»."

        msgid "Leave it out for 'false'."
        msgstr "Omítalo para «false»."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Operations.swift

        msgctxt "may …"
        msgid "change"
        msgstr "cambiar"

        # Packages/Server/JSONAPI/JSONAPIRoutes.swift

        msgid "It may be in the trash, or you aren't permitted to see it."
        msgstr "Puede que esté en la papelera, o que no tenga permiso para verlo."

        msgid "The id must be {0}."
        msgstr "Un ID es {0}."

        msgid "There is no resource of type '{0}' with this id."
        msgstr "No existe ningún recurso de tipo «{0}» con este ID."

        msgid "An id is {0}."
        msgstr "Un ID es {0}."

        msgid "It may be in the trash, or you may not see it."
        msgstr "Puede que esté en la papelera, o que no tenga permiso para verlo."

        # Packages/Server/JSONAPI/Jobs/BulkOrder.swift

        msgid "{0} of the {1} resources don't exist, or you can't see them."
        msgstr "{0} de los {1} recursos no existen, o no puede verlos."

        msgid "Leave them out. They may be restored by now."
        msgstr "Omítalos. Puede que ya se hayan restaurado."

        msgid "Leave them out. They may be in the trash by now."
        msgstr "Omítalos. Puede que ya estén en la papelera."

        msgid "The resources that match aren't the ones that the dry run found."
        msgstr "Coinciden otros recursos que los que encontró la simulación."

        msgid "{0} resources match, but the dry run found {1}."
        msgstr "Coinciden {0} recursos, y la simulación encontró {1}."

        msgid "Nothing was changed. Do another dry run before you go on."
        msgstr "No se cambió nada. Haga otra simulación antes de continuar."

        # Packages/Server/JSONAPI/Jobs/BulkSelection.swift

        msgid "More than {0} resources match, which is the most that a job can have."
        msgstr "Coinciden más de {0} recursos, el máximo de una tarea."

        msgid "Narrow the selection with filters, and do it in parts."
        msgstr "Limite la selección con filtros y hágalo por partes."

        # Packages/Server/JSONAPI/Jobs/BulkWork.swift

        msgid "Nothing matches."
        msgstr "No hay coincidencias."

        msgid "Choose other filters."
        msgstr "Elija otros filtros."

        # Packages/Server/JSONAPI/Jobs/Job.swift

        msgctxt "state of a job"
        msgid "draft"
        msgstr "borrador"

        msgctxt "state of a job"
        msgid "queued"
        msgstr "en cola"

        msgctxt "state of a job"
        msgid "running"
        msgstr "en curso"

        msgctxt "state of a job"
        msgid "done"
        msgstr "hecha"

        msgctxt "state of a job"
        msgid "failed"
        msgstr "con error"

        msgctxt "state of a job"
        msgid "cancelled"
        msgstr "cancelada"

        # Packages/Server/JSONAPI/Jobs/JobRunner.swift

        msgid "One row was refused; nothing was changed."
        msgstr "Se rechazó una fila; no se cambió nada."

        msgid "{0} rows were refused; nothing was changed."
        msgstr "Se rechazaron {0} filas; no se cambió nada."

        msgid "Somebody else had it locked for more than {0}."
        msgstr "Otra persona lo mantuvo bloqueado durante más de {0}."

        msgid "Try again."
        msgstr "Hágalo de nuevo."

        msgid "The account that started this job has been deleted or disabled."
        msgstr "La cuenta que pidió esto ya no existe o está desactivada."

        msgid "The class {0} no longer exists."
        msgstr "La clase {0} ya no existe."

        # Packages/Server/JSONAPI/Jobs/JobStore.swift

        msgid "This server doesn't know this kind of job."
        msgstr "Este servidor no conoce el tipo de la tarea."

        msgid "Ask a server with a newer version."
        msgstr "Otro servidor tiene una versión más reciente; pregúntele a él."

        msgid "You have {0} unfinished jobs; the limit is {1}."
        msgstr "Tiene {0} tareas sin terminar, y como máximo puede haber {1}."

        msgid "Wait until one is finished, or cancel one."
        msgstr "Espere a que termine una o cancele alguna."

        # Packages/Server/JSONAPI/Jobs/JobWorker.swift

        msgid "There is nothing to change."
        msgstr "No hay nada que cambiar."

        msgid "Choose at least one field."
        msgstr "Elija al menos un campo."

        msgid "You can no longer see it."
        msgstr "Ya no puede verlo."

        msgid "It already had these values."
        msgstr "Ya estaba así."

        msgid "It's no longer in the trash."
        msgstr "Ya no está en la papelera."

        msgid "Somebody has since restored or deleted it."
        msgstr "Alguien lo ha restaurado o eliminado desde entonces."

        msgid "It no longer exists, or you can no longer see it."
        msgstr "Ya no existe, o ya no puede verlo."

        msgid "It already has its old values."
        msgstr "Está como estaba."

        msgid "Somebody has since changed {0}."
        msgstr "Alguien ha cambiado {0} desde entonces."

        msgid "Left {0}, which somebody has since changed."
        msgstr "Se dejó como está, porque alguien lo ha cambiado desde entonces: {0}."

        # Packages/Server/JSONAPI/Jobs/OwnJobs.swift

        msgid "The job has ended: it's {0}."
        msgstr "La tarea ya terminó; estado: {0}."

        msgid "Undo it on its page."
        msgstr "«Deshacer», en su página, la revierte."

        msgid "The job is under way."
        msgstr "La tarea está en curso."

        msgid "End it on its page, then undo what it did."
        msgstr "Deténgala en su página y deshaga después lo que hizo."

        msgid "Job {0} undoes this one."
        msgstr "La tarea {0} la deshace."

        msgid "That job's page shows its progress."
        msgstr "La página de esa tarea muestra cuánto ha avanzado."

        msgid "A job of kind '{0}' can't be undone."
        msgstr "Una tarea del tipo «{0}» no se puede deshacer."

        msgid "Start a new job instead."
        msgstr "Haga lo que desea con una nueva."

        msgid "The job did nothing."
        msgstr "La tarea no hizo nada."

        msgid "There is nothing to undo."
        msgstr "No hay nada que deshacer."

        # Packages/Server/JSONAPI/Jobs/ResourceMembers+Reading.swift

        msgid "'{0}' has more than {1} elements, so the change couldn't be undone."
        msgstr "«{0}» tiene más de {1} elementos, que no se podrían recuperar al deshacer."

        msgid "Change it by itself, not together with others."
        msgstr "Cámbielo por separado, no junto con otros."

        # Packages/Server/JSONAPI/Query/FieldPath.swift

        msgid "Use a field with one value. Lists can't be filtered or sorted by."
        msgstr "Use un campo con un solo valor. No se puede buscar ni ordenar por listas."

        # Packages/Server/JSONAPI/Query/RequestParameters.swift

        msgid "The query has {0} bytes; the limit is {1}."
        msgstr "La consulta tiene {0} bytes, y como máximo puede haber {1}."

        msgid "Send fewer filters at once."
        msgstr "Envíe menos filtros a la vez."

        msgid "The query has {0} parameters; the limit is {1}."
        msgstr "La consulta tiene {0} parámetros, y como máximo puede haber {1}."

        msgid "Parameter '{0}': {1}"
        msgstr "El parámetro «{0}»: {1}"

        msgid "it has {0} {1}; the limit is {2}."
        msgstr "tiene {0} {1}, y son posibles {2} como máximo."

        msgid "Send several requests."
        msgstr "Envíe varias solicitudes."

        msgid "The query has a parameter that isn't percent-encoded UTF-8: '{0}'."
        msgstr "La consulta tiene un parámetro que no es UTF-8 en codificación por ciento: «{0}»."

        msgid "Encode names and values as RFC 3986 says: é is %C3%A9, and % itself is %25."
        msgstr "Codifique nombres y valores según RFC 3986: é es %C3%A9, y el propio % es %25."

        msgid "it's given twice."
        msgstr "se indica dos veces."

        msgid "Send it once."
        msgstr "Envíelo una vez."

        msgid "its value has {0} bytes; the limit is {1}."
        msgstr "su valor tiene {0} bytes, y son posibles {1} como máximo."

        msgid "Send a shorter value."
        msgstr "Envíe un valor más corto."

        msgid "it contains the character U+0000."
        msgstr "contiene el carácter U+0000."

        # Packages/Server/JSONAPI/Query/ResourceFilter.swift

        msgid "'{0}' isn't an operator for '{1}'."
        msgstr "«{0}» no es un operador para «{1}»."

        msgctxt "it has …"
        msgid "values"
        msgstr "valores"

        msgid "the text has more than {0} bytes."
        msgstr "el texto tiene más de {0} bytes."

        msgid "Send a shorter text."
        msgstr "Envíe un texto más corto."

        # Packages/Server/JSONAPI/Query/ResourcePage.swift

        msgid "a number from 1 to {0}"
        msgstr "un número del 1 al {0}"

        msgid "it isn't supported here."
        msgstr "no se conoce aquí."

        msgid "The page would skip {0} resources; the limit is {1}."
        msgstr "La página empieza después de {0} recursos, y se pueden saltar {1} como máximo."

        msgid "Follow 'links.next' of a list without page[number]: cursors have no limit."
        msgstr "Siga «links.next» de una lista sin page[number]: los cursores no tienen límite."

        msgid "it can't be combined with page[number]."
        msgstr "no es compatible con page[number]."

        msgid "Send one of the two."
        msgstr "Envíe uno de los dos."

        msgid "it isn't a cursor for a list in this order."
        msgstr "no es un cursor de una lista en este orden."

        msgid "Take it from 'links.next', with the same 'sort'."
        msgstr "Tómelo de «links.next», con el mismo «sort»."

        # Packages/Server/JSONAPI/Query/ResourceQuery.swift

        msgid "There are none."
        msgstr "No hay ninguno."

        msgid "Expected one of: {0}."
        msgstr "Se conocen: {0}."

        msgid "the query has more than {0} filters."
        msgstr "la consulta tiene más de {0} filtros."

        msgid "Use 'in' for several values of one field."
        msgstr "Use «in» para varios valores de un campo."

        msgid "This address takes no parameters."
        msgstr "Esta dirección no admite parámetros."

        msgid "there is no type with this name."
        msgstr "no hay ningún tipo con ese nombre."

        msgctxt "it has …"
        msgid "fields"
        msgstr "campos"

        msgid "'{0}' can't be sorted by."
        msgstr "«{0}» no tiene orden."

        msgid "Sort by an attribute with one value, or by id."
        msgstr "Ordene por un atributo con un solo valor o por el id."

        msgid "it has '{0}' twice."
        msgstr "tiene «{0}» dos veces."

        msgid "Name it once."
        msgstr "Indíquelo una vez."

        msgctxt "it has …"
        msgid "paths"
        msgstr "rutas"

        msgid "'{0}' is {1} relationships deep; the limit is {2}."
        msgstr "«{0}» tiene {1} relaciones de profundidad, y son posibles {2} como máximo."

        msgid "Ask for the rest in another request."
        msgstr "Pida el resto en otra solicitud."

        # Packages/Server/JSONAPI/Reading/ResourceReader+Rows.swift

        msgid "{0} have no field '{1}' with one value."
        msgstr "{0} no tiene ningún campo «{1}» con un solo valor."

        # Packages/Server/JSONAPI/Reading/ResourceReader+ValueCounts.swift

        msgid "'{0}' has several values."
        msgstr "«{0}» tiene varios valores."

        msgid "Count by a field with one."
        msgstr "Cuente por un campo que tenga uno solo."

        # Packages/Server/JSONAPI/Reading/ResourceReader.swift

        msgid "The answer would include more than {0} resources."
        msgstr "La respuesta incluiría más de {0} recursos."

        msgid "Ask for a smaller page with page[size], or for fewer relationships."
        msgstr "Pida una página más pequeña con page[size], o menos relaciones."

        # Packages/Server/JSONAPI/Schema/ValueText.swift

        msgid "true or false"
        msgstr "true o false"

        msgid "a whole number from {0} to {1}"
        msgstr "un número entero de {0} a {1}"

        msgid "a number such as {0}"
        msgstr "un número como {0}"

        msgid "a decimal number such as {0}"
        msgstr "un número decimal como {0}"

        msgid "a date and time such as {0}"
        msgstr "una fecha y hora como {0}"

        msgid "an id of 24 hexadecimal digits"
        msgstr "un ID de 24 cifras hexadecimales"

        # Packages/Server/JSONAPI/Writing/ResourceChange+Fields.swift

        msgid "'{0}' can't be empty."
        msgstr "«{0}» no puede estar vacío."

        msgid "Give it a value."
        msgstr "Dele un valor."

        msgid "Send {0}."
        msgstr "Envíe {0}."

        msgid "'{0}' isn't a list."
        msgstr "«{0}» no es una lista."

        msgid "Send a list of values."
        msgstr "Envíe una lista de valores."

        msgid "An element must have {0} values."
        msgstr "Un elemento tiene {0} valores."

        msgid "Send a list of that length."
        msgstr "Envíe una lista con esa cantidad."

        msgid "An element can't be null."
        msgstr "Un elemento no puede ser null."

        msgid "Send a value that fits."
        msgstr "Envíe un valor adecuado."

        msgid "Two elements have the same 'id'."
        msgstr "Dos elementos tienen el mismo «id»."

        msgid "Leave it out for a new element."
        msgstr "Omítalo para uno nuevo."

        msgid "An element of '{0}'"
        msgstr "Un elemento de «{0}»"

        msgid "'{0}' isn't a list of at most {1} elements."
        msgstr "«{0}» no es una lista de {1} elementos como máximo."

        msgid "Send a list."
        msgstr "Envíe una lista."

        msgid "{0} has no attribute '{1}'."
        msgstr "{0} no tiene ningún atributo «{1}»."

        msgid "{0} needs '{1}'."
        msgstr "{0} necesita «{1}»."

        msgid "Send it, or leave out everything that needs it."
        msgstr "Envíelo, u omita por completo lo que lo necesita."

        msgid "The value isn't {0}."
        msgstr "No es {0}."

        msgid "Send {0}, without quotes."
        msgstr "Envíe {0}, sin comillas."

        msgid "Send {0}, as a JSON string."
        msgstr "Envíe {0}, como cadena JSON."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Limits.swift

        msgid "A latitude can't be {0} degrees."
        msgstr "No existe la latitud de {0} grados."

        msgid "A longitude can't be {0} degrees."
        msgstr "No existe la longitud de {0} grados."

        msgid "Send a number from {0} to {1}."
        msgstr "Envíe un número de {0} a {1}."

        msgid "{0} isn't an allowed value."
        msgstr "{0} no es uno de los valores posibles."

        msgid "Send one of: {0}."
        msgstr "Envíe uno de estos valores: {0}."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Relationships.swift

        msgid "The list has {0} elements; the limit is {1}."
        msgstr "La lista tiene {0} elementos, y como máximo puede haber {1}."

        msgid "Write longer lists through sync."
        msgstr "Escriba las listas más largas mediante la sincronización."

        msgid "'id' isn't {0}."
        msgstr "«id» no es {0}."

        msgid "Send the id of one of the {0}, as a JSON string."
        msgstr "Envíe el ID de un objeto de {0}, como cadena JSON."

        msgid "{0} have no relationship '{1}'."
        msgstr "{0} no tiene ninguna relación «{1}»."

        # Packages/Server/JSONAPI/Writing/ResourceChange.swift

        msgid "{0} have no such property."
        msgstr "{0} no tiene esa propiedad."

        msgid "Leave it out."
        msgstr "Omita eso."

        msgid "{0} have no attribute '{1}'."
        msgstr "{0} no tiene ningún atributo «{1}»."

        msgid "It's a relationship: send it in 'relationships'."
        msgstr "Es una relación: envíela allí."

        # Packages/Server/JSONAPI/Writing/ResourceObjects.swift

        msgid "A link points to a resource that doesn't exist."
        msgstr "Un enlace lleva a un recurso que no existe."

        msgid "Send the id of one that exists."
        msgstr "Envíe el ID de uno que exista."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Links.swift

        msgid "Send the id of one that exists, and isn't in the trash."
        msgstr "Envíe el ID de uno que exista y no esté en la papelera."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Refusals.swift

        msgid "Leave 'id' out, and the server generates one."
        msgstr "Omita «id» y el servidor creará uno."

        msgid "Another of the {0} has the same value, which must be unique."
        msgstr "Otro objeto de {0} tiene el mismo valor, que debe ser único."

        msgid "Another of the {0} has the same {1}."
        msgstr "Otro objeto de {0} tiene el mismo valor en {1}."

        msgid "Send another value, or change the other one first."
        msgstr "Envíe otro valor, o cambie primero el otro objeto."

        msgid "A required value is missing."
        msgstr "Falta un valor obligatorio."

        msgid "A link points to a resource that was just removed."
        msgstr "Un enlace lleva a un recurso que se acaba de quitar."

        msgid "The database doesn't accept the values: {0}."
        msgstr "La base de datos no acepta los valores: {0}."

        msgid "The database doesn't accept the values: they're out of range."
        msgstr "La base de datos no acepta los valores: están fuera de rango."

        msgid "Send other values."
        msgstr "Envíe otros valores."

        # Packages/Server/JSONAPI/Writing/ResourceWriter.swift

        msgid "Something else still needs this resource."
        msgstr "Otro elemento necesita este recurso."

        msgid "First remove what links to it."
        msgstr "Quite primero lo que enlaza con él."

        msgid "Leave '{0}' as it is, or ask for a role that may change it."
        msgstr "Deje «{0}» como está, o pida un rol que pueda cambiarlo."

        # Packages/Server/HTTP/Accounts/Routes+APIKeys.swift

        msgid "API keys"
        msgstr "claves de API"

        # Packages/Server/HTTP/Accounts/Routes+Account.swift

        msgid "account"
        msgstr "cuenta"

        # Packages/Server/HTTP/Accounts/Routes+Login.swift

        msgid "this is where access tokens come from"
        msgstr "aquí se crean los tokens de acceso"

        msgid "it asks for a refresh token"
        msgstr "exige un token de renovación"

        # Packages/Server/HTTP/Accounts/Routes+Registration.swift

        msgid "this is where accounts come from"
        msgstr "aquí se crean las cuentas"

        # Packages/Server/HTTP/Accounts/Routes+Sessions.swift

        msgid "logins"
        msgstr "inicios de sesión"

        # Packages/Server/HTTP/Application/Routes+Health.swift

        msgid "says only that the process runs"
        msgstr "solo dice que el proceso está en marcha"

        msgid "says only whether the database answers"
        msgstr "solo dice si la base de datos responde"

        # Packages/Server/HTTP/Configuration/ServerConfiguration.swift

        msgid "{0} is '{1}': choose optional, everywhere or everybody."
        msgstr "{0} es «{1}»: elija optional, everywhere o everybody."

        # Packages/Server/HTTP/Edge/EdgeMiddleware.swift

        msgid "{0} is not possible here."
        msgstr "{0} no es posible aquí."

        msgid "Use {0}."
        msgstr "Use {0}."

        # Packages/Server/HTTP/Errors/RequestFailure+Errors.swift

        msgid "The server is busy."
        msgstr "El servidor está ocupado."

        msgid "The request's body is incomplete or isn't valid HTTP."
        msgstr "El cuerpo de la solicitud está incompleto o no es HTTP."

        msgid "The server could not carry out the request."
        msgstr "El servidor no pudo llevar a cabo la solicitud."

        msgid "The server's log has the details under this request's id."
        msgstr "El registro del servidor contiene los detalles con el ID de esta solicitud."

        msgid "Another object already has a value that must be unique."
        msgstr "Otro objeto ya tiene un valor que debe ser único."

        msgid "Another object already has the same {0}."
        msgstr "Otro objeto ya tiene el mismo valor en {0}."

        msgid "Change it on one of the two, then try again."
        msgstr "Cámbielo en uno de los dos y vuelva a intentarlo."

        msgid "Change {0} on one of the two, then try again."
        msgstr "Cambie {0} en uno de los dos y vuelva a intentarlo."

        msgid "The answer would be too large."
        msgstr "La respuesta tendría demasiados bytes."

        msgid "A function in the database uses a table or a column that no longer exists."
        msgstr "Una función de la base de datos usa una tabla o una columna que ya no existe."

        msgid "It may have been renamed. The server's log has the function under this request's id: change the function, or give the table or the column its old name back."
        msgstr "Quizá se le cambió el nombre. El registro del servidor tiene la función con el identificador de esta petición: cámbiela o devuelva a la tabla o a la columna su nombre anterior."

        msgid "The server's model is changing."
        msgstr "El modelo del servidor está cambiando."

        msgid "The database does not answer at the moment."
        msgstr "La base de datos no responde en este momento."

        msgid "The database refused the change: it would break the rule '{0}'."
        msgstr "La base de datos lo rechazó: se incumpliría la regla «{0}»."

        msgid "The database refused a value."
        msgstr "La base de datos rechazó un valor."

        msgid "Try the same request again in a moment."
        msgstr "Vuelva a intentar la misma solicitud en un momento."

        msgid "The server has more requests of this kind than it can hold."
        msgstr "El servidor tiene más solicitudes de este tipo de las que admite."

        msgid "The request's body is too long."
        msgstr "El cuerpo de la solicitud es demasiado largo."

        msgid "Choose fewer columns, or filter the list."
        msgstr "Elija menos columnas o filtre la lista."

        msgid "The request is malformed."
        msgstr "La solicitud no está bien formada."

        # Packages/Server/HTTP/Routes/EdgeContext+Parameters.swift

        msgid "The address contains something that isn't an id."
        msgstr "La dirección contiene algo que no es un ID."

        # Packages/Server/HTTP/Routes/Operation+Words.swift

        msgctxt "may …"
        msgid "delete"
        msgstr "eliminar"

        msgctxt "may …"
        msgid "trash"
        msgstr "mover a la papelera"

        msgctxt "may …"
        msgid "listTrash"
        msgstr "ver en la papelera"

        msgctxt "may …"
        msgid "restore"
        msgstr "restaurar"

        msgctxt "may …"
        msgid "inspect"
        msgstr "inspeccionar"

        msgctxt "may …"
        msgid "purge"
        msgstr "eliminar definitivamente"

        msgctxt "may …"
        msgid "transfer"
        msgstr "traspasar"

        msgctxt "may …"
        msgid "audit"
        msgstr "ver en el registro de auditoría"

        msgctxt "permission"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        # Packages/Server/HTTP/Routes/RouteAccess+Class.swift

        msgid "Not permitted."
        msgstr "No permitido."

        msgid "Not permitted: no role lets you {0} {1}."
        msgstr "No permitido: ningún rol le permite {0} {1}."

        # Packages/Server/HTTP/Routes/RouteAccess+Roles.swift

        msgctxt "permission"
        msgid "{0} {1} in {2}"
        msgstr "{0} {1} en {2}"

        msgid "permission to {0}"
        msgstr "el permiso «{0}»"

        msgid "Not permitted: this requires {0}."
        msgstr "No permitido: esto requiere {0}."

        # Packages/Server/HTTP/Routes/RouteAccess+User.swift

        msgid "own {0}"
        msgstr "para sí mismo: {0}"

        # Packages/Server/HTTP/Routes/RouteAccess.swift

        msgid "everybody: {0}"
        msgstr "todos: {0}"

        msgid "Not permitted: you may not view the trash."
        msgstr "No permitido: no puede ver la papelera."

        msgid "There is no {0} with this id."
        msgstr "No existe ningún objeto ({0}) con este ID."

        # Packages/Server/HTTP/Routes/RouteScope.swift

        msgid "the {0}"
        msgstr "{0}"

        msgid "the {0} of the {1}"
        msgstr "{0} de {1}"

        # Packages/Server/HTTP/Routes/Timeout.swift

        msgid "The request took longer than {0} and was cancelled."
        msgstr "La solicitud tardó más de {0} y se abandonó."

        msgid "Try it again, or ask for less at once."
        msgstr "Vuelva a intentarlo; pida menos de una vez."

        # Packages/Server/HTTP/Rows/TrashReason+Request.swift

        msgid "The reason is longer than {0} bytes."
        msgstr "El motivo tiene más de {0} bytes."

        msgid "Say it in fewer words."
        msgstr "Dígalo con menos palabras."

        msgid "The reason has control characters."
        msgstr "El motivo contiene caracteres de control."

        msgid "Send plain text."
        msgstr "Envíe texto sin formato."

        # Packages/Server/Authentication/Accounts/AccountRegistry.swift

        msgid "write it as name@example.org."
        msgstr "escríbala como name@example.org."

        msgid "it is longer than {0} bytes."
        msgstr "ocupa más de {0} bytes."

        msgid "it contains a space or a control character."
        msgstr "contiene un espacio o un carácter que controla otros."

        msgid "it contains one of {0}, which have a special meaning in mails."
        msgstr "contiene uno de los caracteres {0}, que los correos interpretan de otra forma."

        msgid "it needs at least {0} characters."
        msgstr "necesita al menos {0} caracteres."

        msgid "it appeared in a data leak: choose another."
        msgstr "se conoce por una filtración: elija otra."

        msgid "it is empty."
        msgstr "está vacío."

        # Packages/Server/Authentication/AuthenticationError.swift

        msgid "E-mail or password is wrong."
        msgstr "La dirección de correo electrónico o la contraseña no son correctas."

        msgid "Too many people are logging in at the moment: try again in a few seconds."
        msgstr "Hay demasiadas personas iniciando sesión en este momento: vuelva a intentarlo en unos segundos."

        msgid "The login has ended: log in again."
        msgstr "La sesión ha terminado: vuelva a iniciar sesión."

        msgid "There is no such login, or it has ended."
        msgstr "Esa sesión no existe o ha terminado."

        msgid "The access token's account no longer exists."
        msgstr "La cuenta del token de acceso ya no existe."

        msgid "This e-mail address cannot be used: {0}"
        msgstr "No se puede usar esta dirección de correo electrónico: {0}"

        msgid "This password cannot be used: {0}"
        msgstr "No se puede usar esta contraseña: {0}"

        msgid "This name cannot be used: {0}"
        msgstr "No se puede usar este nombre: {0}"

        msgid "This custom data cannot be used: {0}"
        msgstr "No se pueden usar estos datos personalizados: {0}"

        msgid "There is already an account with this e-mail address: log in, or use another address."
        msgstr "Ya existe una cuenta con esta dirección de correo electrónico: inicie sesión o use otra dirección."

        msgid "This way to log in or register isn't offered here."
        msgstr "Esta forma de iniciar sesión o de registrarse no está disponible aquí."

        msgid "This code is wrong or was already used: wait for the next one."
        msgstr "Este código no es correcto o ya se usó: espere al siguiente."

        msgid "This requires a login with a second factor."
        msgstr "Esto requiere una sesión iniciada con segundo factor."

        msgid "This account has a second factor, and this requires a code from it."
        msgstr "Esta cuenta tiene un segundo factor, y esto requiere un código suyo."

        msgid "The app's codes can't be checked any more, because the servers' secret was replaced. Use a recovery code and set the app up again, or have somebody remove the second factor."
        msgstr "Los códigos de la aplicación ya no se pueden comprobar, porque se sustituyó el secreto de los servidores. Use un código de recuperación y configure de nuevo la aplicación, o pida a alguien que quite el segundo factor."

        msgid "This token is wrong, has expired, or was already used: ask for another mail."
        msgstr "Este token no es correcto, ha caducado o ya se usó: pida otro correo."

        msgid "There is already an open invitation to this address for this role: send that one again."
        msgstr "Ya hay una invitación abierta a esta dirección para este rol: vuelva a enviar esa."

        msgid "Too many invitations: at most {0} from one person and {1} to one object can be open, and each can be sent {2} times. Revoke some first."
        msgstr "Demasiadas invitaciones: puede haber abiertas como máximo {0} de una persona y {1} a un mismo objeto, y cada una se envía {2} veces. Revoque primero algunas."

        msgid "This server can't send mails."
        msgstr "Este servidor no puede enviar correos."

        msgid "Too many attempts, for this account or from your network: try again in a second."
        msgstr "Demasiados intentos, con esta cuenta o desde su red: vuelva a intentarlo en un segundo."

        msgid "Too many attempts, for this account or from your network: try again in {0} second."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} seconds."
        msgstr[0] "Demasiados intentos, con esta cuenta o desde su red: vuelva a intentarlo en {0} segundo."
        msgstr[1] "Demasiados intentos, con esta cuenta o desde su red: vuelva a intentarlo en {0} segundos."

        msgid "Too many attempts, for this account or from your network: try again in {0} minute."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} minutes."
        msgstr[0] "Demasiados intentos, con esta cuenta o desde su red: vuelva a intentarlo en {0} minuto."
        msgstr[1] "Demasiados intentos, con esta cuenta o desde su red: vuelva a intentarlo en {0} minutos."

        # Packages/Server/Authentication/Mail/MailDeliveryError.swift

        msgid "The carrier answered with status {0}."
        msgstr "El servicio de correo respondió con el estado {0}."

        msgid "The carrier's host refused the connection."
        msgstr "El host del servicio de correo ha rechazado la conexión."

        msgid "The carrier's host can't be found by its name."
        msgstr "No se encuentra el host del servicio de correo por su nombre."

        msgid "No secure connection to the carrier could be made: TLS failed."
        msgstr "No se ha podido establecer una conexión segura con el servicio de correo: TLS ha fallado."

        msgid "The carrier didn't answer in time."
        msgstr "El servicio de correo no ha respondido a tiempo."

        msgid "The connection to the carrier failed."
        msgstr "La conexión con el servicio de correo ha fallado."

        msgid "The folder {0} can't be written to."
        msgstr "No se puede escribir en la carpeta {0}."

        msgid "The program {0} couldn't be started."
        msgstr "No se pudo iniciar el programa {0}."

        msgid "The program {0} ended with exit code {1}."
        msgstr "El programa {0} terminó con el código de salida {1}."

        msgid "The program {0} was killed by a signal, which it gets after {1} seconds."
        msgstr "Una señal terminó el programa {0}. Recibe una a los {1} segundos."

        msgid "Check {0}, which is sent as the bearer token."
        msgstr "Compruebe {0}, que se le envía como token de portador (bearer)."

        msgid "Check the address in {0}."
        msgstr "Compruebe la dirección en {0}."

        msgid "Its own log should say why."
        msgstr "Su propio registro debería indicar el motivo."

        msgid "Check the host and the port in {0}, and whether the carrier is running."
        msgstr "Compruebe el host y el puerto en {0} y si el servicio de correo está en marcha."

        msgid "Check the host in {0}, and this server's name resolution (DNS)."
        msgstr "Compruebe el host en {0} y la resolución de nombres (DNS) de este servidor."

        msgid "The certificate must be valid for the host in {0} and come from an authority that this server trusts, and the port must speak TLS."
        msgstr "El certificado debe ser válido para el host en {0} y proceder de una autoridad en la que confíe este servidor, y el puerto debe hablar TLS."

        msgid "Check the address in {0}, whether a firewall keeps this server from connecting to it, and the carrier's load."
        msgstr "Compruebe la dirección en {0}, si un cortafuegos impide a este servidor conectarse a ella y la carga del servicio de correo."

        msgid "Check the address in {0}, and whether this server may connect to it."
        msgstr "Compruebe la dirección en {0} y si este servidor puede conectarse a ella."

        msgid "Give this server's user write access to it."
        msgstr "Permita que el usuario con el que se ejecuta este servidor escriba en ella."

        msgid "Check its path in {0}, and whether this server's user may run it."
        msgstr "Compruebe su ruta en {0} y si el usuario de este servidor puede ejecutarlo."

        msgid "Run it by hand as this server's user. Its own log should say why."
        msgstr "Ejecútelo a mano con el usuario de este servidor. Su propio registro debería indicar el motivo."

        # Packages/Server/Authentication/Passwords/Authenticator+Passwords.swift

        msgid "it is your current password."
        msgstr "es la que ya tiene."

        # Packages/Server/Authentication/Passwords/PasswordWeakness.swift

        msgid "it is one of the most common passwords, or close to one, and among the first that attackers try."
        msgstr "es una de las más comunes, o apenas se distingue de una, y está entre las primeras que se prueban."

        msgid "it is little more than your e-mail address or name, and among the first that attackers try."
        msgstr "es poco más que su dirección de correo electrónico o su nombre, y está entre las primeras que se prueban."

        msgid "it is made of sequences such as 1234, qwerty or aaaa, and among the first that attackers try."
        msgstr "consta de series de caracteres, como 1234, qwerty o aaaa, y está entre las primeras que se prueban."

        msgid "it repeats a few characters, and is among the first that attackers try."
        msgstr "repite unos pocos caracteres, y está entre las primeras que se prueban."

        msgid "Choose one that only you would think of, such as four unrelated words."
        msgstr "Elija una que sea solo suya, como cuatro palabras que no tengan relación entre sí."

        # Packages/Server/PostgresStore/Audit/AuditFollower.swift

        msgid "{0} month was dropped"
        msgid_plural "{0} months were dropped"
        msgstr[0] "{0} mes eliminado"
        msgstr[1] "{0} meses eliminados"

        # Packages/Server/PostgresStore/Feed/ChangelogRetention.swift

        msgid "devices may be at tick {0} or later"
        msgstr "los dispositivos pueden estar en el tick {0} o posterior"

        msgid "nothing is old enough"
        msgstr "nada es lo bastante antiguo"

        msgid "{0} partition was dropped"
        msgid_plural "{0} partitions were dropped"
        msgstr[0] "{0} partición eliminada"
        msgstr[1] "{0} particiones eliminadas"

        msgid "a new partition is in use"
        msgstr "se usa una partición nueva"

        msgid "waiting for other transactions"
        msgstr "espera a otras transacciones"

        # Packages/Server/ServerModel/ServerModels+Roles.swift

        msgid "The database refuses to change a grant of '{0}': {1} Nothing was changed."
        msgstr "La base de datos mantiene una asignación de «{0}» como está: {1} No se ha cambiado nada."

        msgid "{0} grant gives the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgid_plural "{0} grants give the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgstr[0] "{0} asignación da el rol «{1}». Quíteselo primero a todos los que lo tienen; no se ha cambiado nada."
        msgstr[1] "{0} asignaciones dan el rol «{1}». Quíteselo primero a todos los que lo tienen; no se ha cambiado nada."

        msgid "{0} grant already gives the role '{1}', although it doesn't exist yet. Delete the grant first, or choose another name; nothing was changed."
        msgid_plural "{0} grants already give the role '{1}', although it doesn't exist yet. Delete the grants first, or choose another name; nothing was changed."
        msgstr[0] "{0} asignación da ya el rol «{1}», aunque todavía no existe. Elimine primero lo que lo da o elija otro nombre; no se ha cambiado nada."
        msgstr[1] "{0} asignaciones dan ya el rol «{1}», aunque todavía no existe. Elimine primero lo que lo da o elija otro nombre; no se ha cambiado nada."

        # Packages/Server/GatewayService/Inspector/InspectorReason.swift

        msgid "role '{0}' ({1})"
        msgstr "rol «{0}» ({1})"

        msgid "role '{0}' ({1}) would need: {2}"
        msgstr "el rol «{0}» ({1}) exigiría: {2}"

        msgid "The object is in the trash, so no device has it."
        msgstr "El objeto está en la papelera, así que ningún dispositivo lo tiene."

        msgid "Restore it with POST /admin/trash/ID/restore on the admin server."
        msgstr "Restáurelo en la papelera, o con POST /admin/trash/ID/restore del servidor de administración."

        msgid "There is no {0} with this id, or none that you may inspect."
        msgstr "No hay ningún objeto {0} con este id, o ninguno que usted pueda inspeccionar."

        msgid "A device may have created it and not uploaded it yet."
        msgstr "Quizá un dispositivo lo ha escrito y todavía no lo ha subido."

        msgid "The object was written after the newest tick, {0}: devices get it with the next one."
        msgstr "El objeto se escribió después del tick {0}, el más reciente: los dispositivos lo reciben con el siguiente."

        msgid "If this doesn't change, no sequencer is running: look at tombolo_sequencer_elected."
        msgstr "Si sigue así, no hay ningún secuenciador trabajando: mire tombolo_sequencer_elected."

        msgid "The device has subscribed to it since: its new subscriptions are waiting for the batch in progress."
        msgstr "El dispositivo lo ha pedido entretanto: sus nuevas suscripciones esperan al lote en curso."

        msgid "The device's version of the app has no class {0}."
        msgstr "La versión de la aplicación en el dispositivo no tiene la clase {0}."

        msgid "The device has no subscription to {0}."
        msgstr "Ninguna suscripción del dispositivo trata de {0}."

        msgid "None of the device's subscriptions to {0} matches the object ({1} checked)."
        msgstr "Ninguna de las suscripciones del dispositivo a {0} coincide con el objeto ({1})."

        msgid "An unnamed subscription requires {0}"
        msgstr "La suscripción sin nombre pide {0}"

        msgid "The subscription '{0}' requires {1}"
        msgstr "La suscripción «{0}» pide {1}"

        msgid "The session is in a partition, and {0} has no partition key."
        msgstr "La sesión está en una partición, y {0} no tiene ninguna propiedad de partición."

        msgid "The session is in the partition {0}, and the object is in another one."
        msgstr "El objeto está en otra partición que la sesión, que está en {0}."

        msgid "Its '{0}' is {1}"
        msgstr "Su «{0}» es {1}"

        msgid "The rules don't let the device's user read the object: the {0} decides."
        msgstr "Las reglas no dejan que el usuario del dispositivo lea el objeto: decide el {0}."

        msgid "The rules don't let the device's user read the object: no role applies to the user."
        msgstr "Las reglas no dejan que el usuario del dispositivo lea el objeto: no se le aplica ningún rol."

        msgid "The rules don't let the device's user read the object."
        msgstr "Las reglas no dejan que el usuario del dispositivo lea el objeto."

        msgid "It would have to satisfy {0}"
        msgstr "Tendría que cumplir {0}"

        msgid "The device has the object, but its version of the app has no property '{0}'."
        msgstr "El dispositivo tiene el objeto, pero su versión de la aplicación no tiene la propiedad «{0}»."

        msgid "The device has the object, but the rules hide '{0}' from its user."
        msgstr "El dispositivo tiene el objeto, pero las reglas ocultan «{0}» a su usuario."

        msgid "The device is connected, but its session isn't open yet: it is {0}."
        msgstr "El dispositivo está conectado, pero su sesión aún no está abierta. Su estado: {0}."

        msgid "There is no such user, or the account was deleted or is disabled."
        msgstr "No existe ese usuario, o su cuenta ya no existe o está desactivada."

        msgid "The object is in the batch that the gateway is reading for the device."
        msgstr "Es para el dispositivo y está en el lote que se está leyendo para él."

        msgid "{0} bytes of the batch are waiting for the device."
        msgstr "{0} bytes del lote esperan al dispositivo."

        msgid "The object is for the device, which hasn't acknowledged the last {0} batches, up to tick {1}."
        msgstr "Es para el dispositivo, al que se le han enviado {0} lotes, hasta el tick {1}, que no ha dicho haber aplicado."

        msgid "{0} bytes are waiting for its connection."
        msgstr "{0} bytes esperan a su conexión."

        msgid "The object is for the device, which is at tick {0}, {1} behind the newest."
        msgstr "Es para el dispositivo, que está en el tick {0}, con {1} de retraso."

        msgid "The device should have the object: the gateway sent it all its changes up to tick {0}, and the device applied them."
        msgstr "La pasarela cree que el dispositivo lo tiene: se le envió todo lo que le concierne hasta el tick {0}, y lo aplicó."

        # Packages/Server/GatewayService/Inspector/InspectorView.swift

        msgid "(not shown: it looks at what you may not read)"
        msgstr "(no se muestra: mira algo que usted no puede leer)"

        msgid "{0} is {1}"
        msgstr "{0} es {1}"

        msgid "{0}, but {1}"
        msgstr "{0}, pero {1}"

        # Packages/Core/Model/Document/ModelDocument+Editing.swift

        msgid "There is a retired class {0}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "Hay una clase retirada {0}: quite su «retired» para recuperarla o elija otro nombre."

        msgid "{0} has a retired property {1}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "{0} tiene una propiedad retirada {1}: quite su «retired» para recuperarla o elija otro nombre."

        msgid "There is no property '{0}'."
        msgstr "No existe la propiedad «{0}»."

        # Packages/Core/Model/Document/ModelDocument+Reading.swift

        msgid "The document has {0} bytes; the limit is {1}."
        msgstr "El documento tiene {0} bytes; se leen {1} como máximo."

        msgid "The document isn't valid UTF-8."
        msgstr "El documento no es texto en UTF-8."

        msgid "The document isn't valid JSON."
        msgstr "El documento no es JSON válido."

        msgid "The document isn't valid JSON: {0}"
        msgstr "El documento no es JSON válido: {0}"

        msgid "Line {0}: \"{1}\" appears twice in one object."
        msgstr "Línea {0}: «{1}» se indica dos veces en un objeto."

        # Packages/Core/Model/Document/ModelDocumentCheck+Sizes.swift

        msgid "The class has too many columns, including those of its embedded objects; the limit is {0}."
        msgstr "La clase tiene demasiadas columnas con las de sus objetos incrustados; son posibles {0} como máximo."

        msgid "The class has {0} columns, including those of its embedded objects; the limit is {1}."
        msgstr "La clase tiene {0} columnas con las de sus objetos incrustados; son posibles {1} como máximo."

        msgid "A property of an embedded object has more than {0} possible names: remove previous names that no version uses."
        msgstr "Una propiedad de un objeto incrustado podría pedirse por más de {0} nombres: quite los nombres anteriores que ninguna versión usa."

        msgid "The classes and their lists need more than {0} tables: use fewer lists in embedded classes."
        msgstr "Las clases y sus listas necesitan más de {0} tablas: use menos listas en clases incrustadas."

        msgid "The tables need more than {0} columns in total: use fewer embedded objects."
        msgstr "Las tablas necesitan juntas más de {0} columnas: use menos objetos incrustados."

        msgid "Cycles containing embedded objects are not supported: '{0}.{1}' leads back to {2}. Make one of the classes an Object and link to it."
        msgstr "No se admiten ciclos con objetos incrustados: «{0}.{1}» lleva de vuelta a {2}. Haga de una de las clases un Object y enlace con él."

        msgid "Embedded objects are nested more than {0} levels deep."
        msgstr "Hay objetos incrustados unos en otros a más de {0} niveles."

        # Packages/Core/Model/Document/ModelDocumentCheck.swift

        msgid "There are {0} classes; the limit is {1}."
        msgstr "Hay {0} clases; son posibles {1} como máximo."

        msgid "The class is declared twice."
        msgstr "La clase se indica dos veces."

        msgid "An embedded class can't have a trash: its objects are deleted with their owner."
        msgstr "Una clase incrustada no tiene papelera: sus objetos se van con su propietario."

        msgid "An embedded class can't have unique properties: declare them in the classes that contain it."
        msgstr "Una clase incrustada no tiene propiedades únicas: declárelas en las clases que la contienen."

        msgid "The class has {0} properties; the limit is {1}."
        msgstr "La clase tiene {0} propiedades; son posibles {1} como máximo."

        msgid "The property is declared twice."
        msgstr "La propiedad se indica dos veces."

        msgid "\"values\": {0}"
        msgstr "«values»: {0}"

        msgid "A hint must have 1 to {0} bytes, not {1}."
        msgstr "Una indicación tiene de 1 a {0} bytes, no {1}."

        msgid "Only a 'string' without \"values\" can be Markdown."
        msgstr "Solo un «string» sin «values» puede ser Markdown."

        msgid "Only a 'double' can be the latitude or longitude of a \"place\"."
        msgstr "Solo un «double» puede ser la latitud o la longitud de un «place»."

        msgid "A {0} can't be a primary key, indexed or encrypted: only values and links can."
        msgstr "Un {0} no puede ser clave primaria ni estar indexado o cifrado: solo los valores y los enlaces pueden."

        msgid "An embedded class can't have a primary key: its owner identifies its objects."
        msgstr "Una clase incrustada no tiene clave primaria: sus objetos se conocen por su propietario."

        msgid "An embedded object can be nil: write '{0}?'."
        msgstr "Un objeto incrustado puede faltar: escriba «{0}?»."

        msgid "A list is never nil: write '{0}'."
        msgstr "Una lista nunca es nil: escriba «{0}»."

        msgid "A list holds values, links or embedded objects, not '{0}'."
        msgstr "Una lista contiene valores, enlaces u objetos incrustados, no «{0}»."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>', whose elements can't be nil."
        msgstr "En una clase incrustada, una lista de valores es una columna: escriba «array<{0}>», cuyos elementos no pueden ser nil."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>'."
        msgstr "En una clase incrustada, una lista de valores es una columna: escriba «array<{0}>»."

        msgid "Only embedded classes store lists in one column: write 'list<…>'."
        msgstr "Solo las clases incrustadas tienen listas en una columna: escriba «list<…>»."

        msgid "'{0}' can't be part of an array."
        msgstr "«{0}» no puede formar parte de un array."

        msgid "An integer must have 8, 16, 32 or 64 bits, not {0}."
        msgstr "Un entero tiene 8, 16, 32 o 64 bits, no {0}."

        msgid "LinkingObjects are computed on devices and aren't part of a document."
        msgstr "Los LinkingObjects se calculan en los dispositivos y no forman parte de un documento."

        msgid "The class '{0}' isn't in the document."
        msgstr "La clase «{0}» no está en el documento."

        msgid "{0} is embedded, so nothing can link to it: write 'embedded<{1}>'."
        msgstr "{0} está incrustada, así que nada puede enlazar con ella: escriba «embedded<{1}>»."

        msgid "{0} isn't an embedded class: write 'link<{1}>'."
        msgstr "{0} no es una clase incrustada: escriba «link<{1}>»."

        msgid "There are {0} previous names; the limit is {1}."
        msgstr "Hay {0} nombres anteriores; son posibles {1} como máximo."

        msgid "A class with a place needs one property with \"place\": \"latitude\" and one with \"longitude\". Put a second place into an embedded class."
        msgstr "Una clase con un lugar tiene una propiedad con \"place\": \"latitude\" y otra con \"longitude\". Ponga un segundo lugar en una clase incrustada."

        msgid "\"unique\" names '{0}', which isn't a property."
        msgstr "«unique» nombra «{0}», que no es una propiedad."

        msgid "\"unique\" names '{0}', which is a list."
        msgstr "«unique» nombra «{0}», que es una lista."

        msgid "\"unique\" has an empty group."
        msgstr "«unique» tiene un grupo sin ningún nombre."

        # Packages/Core/Model/Document/ModelDocumentReader.swift

        msgid "The document must be a JSON object with the members format, app and classes."
        msgstr "El documento debe ser un objeto JSON con los miembros format, app y classes."

        msgid "The document has no \"format\", which must be a whole number. Is it a model document? This program reads format {0}."
        msgstr "El documento no tiene «format», un número entero: ¿es un documento de modelo? Este programa lee el formato {0}."

        msgid "The document has format {0}: it was written by a newer version of Tombolo. This program reads format {1}; update it."
        msgstr "El documento tiene el formato {0}: lo escribió una versión más reciente de Tombolo. Este programa lee el formato {1}; actualícelo."

        msgid "The document has format {0}, which doesn't exist."
        msgstr "El documento tiene el formato {0}, que no existe."

        msgid "\"{0}\" isn't a member of a document."
        msgstr "«{0}» no es miembro de un documento."

        msgid "A class must be a JSON object."
        msgstr "Una clase debe ser un objeto JSON."

        msgid "\"{0}\" isn't a member of a class."
        msgstr "«{0}» no es miembro de una clase."

        msgid "An embedded class has no table: remove \"table\" or \"embedded\"."
        msgstr "Una clase incrustada no tiene tabla: quite «table» o «embedded»."

        msgid "A property must be a JSON object."
        msgstr "Una propiedad debe ser un objeto JSON."

        msgid "\"{0}\" isn't a member of a property."
        msgstr "«{0}» no es miembro de una propiedad."

        msgid "'{0}' isn't a type."
        msgstr "«{0}» no es un tipo."

        msgid "\"onDelete\" must be \"cascade\" or \"nullify\", not \"{0}\"."
        msgstr "«onDelete» es «cascade» o «nullify», no «{0}»."

        msgid "\"place\" must be \"latitude\" or \"longitude\", not \"{0}\"."
        msgstr "«place» es «latitude» o «longitude», no «{0}»."

        msgid "\"{0}\" is missing."
        msgstr "Falta «{0}»."

        msgid "\"{0}\" must be a string."
        msgstr "«{0}» debe ser un texto."

        msgid "\"{0}\" must be true or false."
        msgstr "«{0}» debe ser true o false."

        msgid "\"{0}\" must be an array."
        msgstr "«{0}» debe ser un array."

        msgid "\"{0}\" has more than {1} elements."
        msgstr "«{0}» tiene más de {1} elementos."

        msgid "\"values\" must be an array of strings or of whole numbers."
        msgstr "«values» debe ser un array de textos o de números enteros."

        msgid "\"{0}\" must be an array of names."
        msgstr "«{0}» debe ser un array de nombres."

        # Packages/Core/Model/Document/ModelName.swift

        msgid "'{0}' isn't a valid Swift name."
        msgstr "«{0}» no es un nombre en Swift."

        msgid "'{0}' has characters that Swift names can't contain: use letters, digits and _."
        msgstr "«{0}» tiene caracteres que un nombre en Swift no tiene: use letras, cifras y _."

        msgid "The SQL name '{0}' has characters that aren't supported: use letters, digits and _."
        msgstr "El nombre SQL «{0}» tiene caracteres que no se admiten: use letras, cifras y _."

        msgid "The app's name '{0}' must consist of lower-case letters, digits, - and _, and begin with a letter."
        msgstr "El nombre de la aplicación «{0}» debe constar de minúsculas, cifras, - y _, y empezar por una letra."

        msgid "The name is empty."
        msgstr "El nombre está vacío."

        msgid "The name '{0}' has {1} bytes; the limit is {2}."
        msgstr "El nombre «{0}» tiene {1} bytes; son posibles {2} como máximo."

        # Packages/Core/Model/Schema/AllowedValues.swift

        msgid "'{0}' can't have the value {1}."
        msgstr "«{0}» no puede tener el valor {1}."

        msgid "There must be at least one value."
        msgstr "Debe haber al menos un valor."

        msgid "There are {0} values; the limit is {1}."
        msgstr "Hay {0} valores; son posibles {1} como máximo."

        msgid "A value is listed twice."
        msgstr "Un valor se indica dos veces."

        msgid "A value has more than {0} bytes, or contains U+0000."
        msgstr "Un valor tiene más de {0} bytes, o U+0000."

        msgid "The values must be strings or whole numbers."
        msgstr "Los valores deben ser textos o números enteros."

        # Packages/Core/Model/Schema/Column.swift

        msgid "'{0}' is required and cannot be nil."
        msgstr "«{0}» es obligatorio y no puede estar vacío."

        msgid "'{0}' is a {1}-bit integer and cannot hold {2}."
        msgstr "«{0}» es un entero de {1} bits y no puede contener {2}."

        msgid "'{0}' cannot be NaN: use an optional and nil instead."
        msgstr "«{0}» no puede ser NaN: hágalo opcional y déjelo vacío."

        msgid "'{0}' can hold at most {1} elements, not {2}."
        msgstr "«{0}» admite {1} elementos como máximo, no {2}."

        msgid "'{0}' must lie between the years 1 and 9999."
        msgstr "«{0}» debe estar entre los años 1 y 9999."

        msgid "'{0}' links to {1} and cannot hold {2}."
        msgstr "«{0}» enlaza con {1} y no puede contener {2}."

        msgid "'{0}' is of type {1} and cannot hold {2}."
        msgstr "«{0}» es de tipo {1} y no puede contener {2}."

        msgid "'{0}' cannot contain U+0000, which PostgreSQL can't store in text."
        msgstr "«{0}» no puede contener U+0000, que el tipo de texto del servidor no admite."

        msgid "'{0}' can hold at most {1} bytes, not {2}."
        msgstr "«{0}» admite {1} bytes como máximo, no {2}."

        # Packages/Core/Rules/Explaining/RuleExpression+Need.swift

        msgid "the rule permits nobody"
        msgstr "la regla no se lo permite a nadie"

        msgid "not {0}, but it holds"
        msgstr "no {0}, pero es así"

        msgid "{0}, but it is {1}"
        msgstr "{0}, pero es {1}"

        msgid "{0}, but {1} is {2}"
        msgstr "{0}, pero {1} es {2}"

        msgid "{0}, but nobody is logged in"
        msgstr "{0}, pero nadie ha iniciado sesión"

        msgid "{0}, but the session's partition has no such value"
        msgstr "{0}, pero la partición de la sesión no tiene ese valor"

        msgid "{0}, but the user has no such value"
        msgstr "{0}, pero el usuario no tiene ese valor"

        msgid "a list of {0}"
        msgstr "una lista de longitud {0}"

        msgid "an object with {0} keys"
        msgstr "un objeto con {0} claves"

        msgid "{0}, but it is empty"
        msgstr "{0}, pero está vacío"

        msgid "{0}, but {1} is empty"
        msgstr "{0}, pero {1} está vacío"

        # Packages/Core/Rules/Explaining/RuleNeed.swift

        msgid "one of these:"
        msgstr "uno de estos puntos:"

        # Packages/Core/Rules/Explaining/Rules+Explaining.swift

        msgid "a login"
        msgstr "iniciar sesión"

        # Packages/Core/Rules/Matrix/Rules+Matrix.swift

        msgid "There is no permission matrix."
        msgstr "No hay ninguna matriz de permisos."

        msgid "Not permitted to {0} by the permission matrix: its rule requires {1}."
        msgstr "No permitido por la matriz de permisos ({0}): su regla pide {1}."

        msgid "Not permitted to {0} the permission matrix: its rule requires {1}."
        msgstr "No permitido: {0} la matriz de permisos. Su regla pide {1}."

        # Packages/Core/Rules/Rules+Partitions.swift

        msgid "the class has no partition key, so it isn't synchronised in Realms of a partition."
        msgstr "la clase no tiene ninguna propiedad que indique la partición de un objeto, así que no se sincroniza en Realms de una partición."

        msgid "the Realm's partition is {0}, and {1}"
        msgstr "la partición del Realm es {0}. {1}"

        msgid "its '{0}' isn't the Realm's partition, {1}; leave '{2}' empty, or write the object in the Realm of its own partition."
        msgstr "su «{0}» no es la partición del Realm, {1}; deje «{2}» vacío o escriba el objeto en el Realm de su propia partición."

        # Packages/Core/Rules/Rules+Requirements.swift

        msgid "Not permitted to {0} this {1} like this: that requires the permission '{2}'."
        msgstr "No permitido: {0} así este objeto ({1}). Hace falta el permiso «{2}»."

        # Packages/Core/Rules/Rules.swift

        msgid "Not permitted to {0} this {1}: {2}"
        msgstr "No permitido: {0} este objeto ({1}), porque {2}"

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit deleting it in the old {2}."
        msgstr "No permitido: cambiar «{0}» de este objeto ({1}). Eso lo traslada, y la matriz no permite eliminarlo en el «{2}» anterior."

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit creating it in the new {2}."
        msgstr "No permitido: cambiar «{0}» de este objeto ({1}). Eso lo traslada, y la matriz no permite crearlo en el «{2}» nuevo."

        msgid "no rule of the role '{0}' allows it"
        msgstr "ninguna regla del rol «{0}» lo permite"

        msgid "{0} has no rules"
        msgstr "{0} no tiene reglas"

        msgid "none of its roles applies to this user"
        msgstr "ninguno de sus roles se aplica a este usuario"

        msgid "Not permitted to change the {0} of this {1}: {2}."
        msgstr "No permitido: cambiar «{0}» de este objeto ({1}), porque {2}."

        msgid "Not permitted to {0} this {1}: {2}."
        msgstr "No permitido: {0} este objeto ({1}), porque {2}."

        # Packages/Core/RuleDocuments/MatrixEditError.swift

        msgid "The rules have no permission matrix."
        msgstr "Las reglas no tienen matriz de permisos."

        msgid "'{0}' may change {1}, and a role that may change objects may read them. Remove create, update and delete first."
        msgstr "«{0}» puede modificar {1}, y quien puede modificar objetos puede leerlos. Quite primero crear, actualizar y eliminar."

        msgid "'{0}' may not read {1}, and a role that may change objects must be able to read them. Permit read first."
        msgstr "«{0}» no puede leer {1}, y quien puede modificar objetos puede leerlos. Permita primero leer."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies everywhere."
        msgstr "La casilla «{0} {1}» no permitiría nada: ninguna regla la consulta para un rol que vale en todas partes."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies within an object."
        msgstr "La casilla «{0} {1}» no permitiría nada: ninguna regla la consulta para un rol que vale dentro de un objeto."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as plain letters, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "La casilla de «{0}» y «{1}» (línea {2}) vale también para otras, por un alias o una clave de fusión, o no está escrita con simples letras. Escríbala por extenso en el documento y aplíquelo."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as true or false, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "La casilla de «{0}» y «{1}» (línea {2}) vale también para otras, por un alias o una clave de fusión, o no está escrita como true o false. Escríbala por extenso en el documento y aplíquelo."

        msgid "A role can't be called '{0}': {1}"
        msgstr "Un rol no puede llamarse «{0}»: {1}"

        msgid "The rules name the role '{0}' on line {1}, so it belongs to the app. Change its boxes, or change the document and apply it."
        msgstr "Las reglas nombran el rol «{0}» en la línea {1}, así que pertenece a la aplicación. Cambie sus casillas, o cambie el documento y aplíquelo."

        msgid "The role '{0}' can't be changed, because of how the rules list roles (line {1}): write 'grants', its 'roles' and the matrix without aliases and merge keys, one role after the other."
        msgstr "Las reglas enumeran los roles de una forma en la que no se puede cambiar el rol «{0}» (línea {1}): escriba «grants», sus «roles» y la matriz sin alias ni claves de fusión, un rol tras otro."

        # Packages/Core/RuleDocuments/RuleText+Roles.swift

        msgid "it must have 1 to {0} letters, digits, '-' and '_', and begin with a letter."
        msgstr "hacen falta de 1 a {0} letras, cifras, «-» y «_», y empieza por una letra."

        msgid "the name is reserved."
        msgstr "ese nombre significa otra cosa."

        msgid "there is already a role '{0}'."
        msgstr "hay un rol «{0}»."

        msgid "the rules already use this word on line {0}."
        msgstr "las reglas usan esa palabra en la línea {0}."

        # Packages/Tools/Migration/Editing/DatabaseMigrations.swift

        msgid "\"app\" is '{0}': this is the model of '{1}', whose name stays."
        msgstr "«app» es «{0}»: este es el modelo de «{1}», cuyo nombre no cambia."

        # Packages/Server/AdminPanel/Templates/account.mustache

        msgid "Disabled"
        msgstr "Desactivada"

        msgid "E-mail address"
        msgstr "Dirección de correo electrónico"

        msgid "Logs in with"
        msgstr "Inicia sesión con"

        msgid "Roles"
        msgstr "Roles"

        msgid "Custom data"
        msgstr "Datos personalizados"

        msgid "View as {{name}}"
        msgstr "Ver como {{name}}"

        msgid "Mail a link to set a password"
        msgstr "Enviar un enlace para definir una contraseña"

        msgid "Remove the second factor"
        msgstr "Quitar el segundo factor"

        msgid "Devices and logins"
        msgstr "Dispositivos y sesiones"

        msgid "Nobody is logged in to this account."
        msgstr "Nadie ha iniciado sesión en esta cuenta."

        msgid "Logged in with"
        msgstr "Sesión iniciada con"

        msgid "Since"
        msgstr "Desde"

        msgid "Last used"
        msgstr "Último uso"

        msgid "Action"
        msgstr "Acción"

        msgid "(this one)"
        msgstr "(esta)"

        msgid "End the login of {{device}}"
        msgstr "Cerrar la sesión de {{device}}"

        msgid "End"
        msgstr "Cerrar"

        msgid "End all logins"
        msgstr "Cerrar todas las sesiones"

        # Packages/Server/AdminPanel/Templates/account_confirm.mustache

        msgid "Cancel"
        msgstr "Cancelar"

        # Packages/Server/AdminPanel/Templates/account_new.mustache

        msgid "Show the account"
        msgstr "Mostrar la cuenta"

        msgid "The new person gets a mail with a link to a page where they choose a password. The link is good for {{days}} days."
        msgstr "La nueva persona recibe un correo con un enlace a una página donde elige una contraseña. El enlace es válido durante {{days}} días."

        msgid "This server can't mail the new person a link to choose a password: that requires <1>TOMBOLO_MAIL</1> and <2>TOMBOLO_ADMIN_URL</2>. Its operator can set a password with <3>migration-tool user password ADDRESS</3>. Until then, nobody can log in to the account."
        msgstr "Este servidor no puede enviar a la nueva persona un enlace para elegir una contraseña: para eso hacen falta <1>TOMBOLO_MAIL</1> y <2>TOMBOLO_ADMIN_URL</2>. Quien lo opera puede definir una contraseña con <3>migration-tool user password ADDRESS</3>. Hasta entonces nadie puede iniciar sesión en la cuenta."

        msgid "E-mail"
        msgstr "Correo electrónico"

        msgid "Name"
        msgstr "Nombre"

        msgid "The account has no roles until somebody gives it some."
        msgstr "La cuenta no tiene roles hasta que alguien se los dé."

        msgid "Add the account"
        msgstr "Añadir la cuenta"

        # Packages/Server/AdminPanel/Templates/accounts.mustache

        msgid "Everybody who can log in, in any app."
        msgstr "Todas las personas que pueden iniciar sesión, en cualquier aplicación."

        msgid "Name, address or id"
        msgstr "Nombre, dirección o ID"

        msgid "Show"
        msgstr "Mostrar"

        msgid "No accounts match."
        msgstr "No coincide ninguna cuenta."

        msgid "Logins"
        msgstr "Sesiones"

        msgid "Pages of the list"
        msgstr "Páginas de la lista"

        msgid "Previous"
        msgstr "Anterior"

        msgid "Page {{page}}"
        msgstr "Página {{page}}"

        msgid "Next"
        msgstr "Siguiente"

        # Packages/Server/AdminPanel/Templates/api.mustache

        msgid "Programs use <1>JSON:API 1.1</1> at <2>{{apiPath}}</2>. They see and change what the rules let their user see and change, as this panel does."
        msgstr "Los programas usan <1>JSON:API 1.1</1> en <2>{{apiPath}}</2>. Ven y cambian lo que las reglas permiten ver y cambiar a su usuario, igual que este panel."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password. If you have a second factor, send a code too, as the member \"code\"."
        msgstr "Esto guarda un token de acceso en la variable TOKEN, que usan los ejemplos. Ponga su contraseña en lugar de PASSWORD. Si tiene un segundo factor, envíe también un código, como miembro «code»."

        msgid "Log in, as a command"
        msgstr "Iniciar sesión, como comando"

        msgid "Classes"
        msgstr "Clases"

        msgid "Class"
        msgstr "Clase"

        msgid "You may"
        msgstr "Usted puede"

        msgid "There are no classes that you may read. Ask an administrator for a role."
        msgstr "No hay ninguna clase que pueda leer. Pida un rol a un administrador."

        msgid "More"
        msgstr "Más"

        msgid "<1>{{apiPath}}/openapi.json</1> describes all classes as OpenAPI 3.1, for tools. It covers what any user could be allowed to do."
        msgstr "<1>{{apiPath}}/openapi.json</1> describe todas las clases como OpenAPI 3.1, para herramientas. Incluye todo lo que se podría permitir a cualquier usuario."

        msgid "<1>{{apiPath}}/operations</1> makes several changes at once, all or none."
        msgstr "<1>{{apiPath}}/operations</1> hace varios cambios a la vez, todos o ninguno."

        msgid "The documentation has the rest: docs/json-api.md, and docs/jobs.md for exports, imports and bulk actions."
        msgstr "El resto está en la documentación: docs/json-api.md, y docs/jobs.md para las exportaciones, las importaciones y las acciones en bloque."

        # Packages/Server/AdminPanel/Templates/api_class.mustache

        msgid "What you may see and do at <1>{{address}}</1>. <2>Show the list</2>."
        msgstr "Lo que puede ver y hacer en <1>{{address}}</1>. <2>Mostrar la lista</2>."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password."
        msgstr "Esto guarda un token de acceso en la variable TOKEN, que usan los ejemplos. Ponga su contraseña en lugar de PASSWORD."

        msgid "Fields"
        msgstr "Campos"

        msgid "Field"
        msgstr "Campo"

        msgid "Type"
        msgstr "Tipo"

        msgid "On creation"
        msgstr "Al crear"

        msgid "Access"
        msgstr "Acceso"

        msgid "Leads to"
        msgstr "Lleva a"

        msgid "Filters and order"
        msgstr "Filtros y orden"

        msgid "Operators"
        msgstr "Operadores"

        msgid "Sortable"
        msgstr "Permite ordenar"

        msgid "without an operator, <1>eq</1> applies."
        msgstr "sin operador se entiende <1>eq</1>."

        msgid "{{title}}, as a command"
        msgstr "{{title}}, como comando"

        msgid "Errors"
        msgstr "Errores"

        msgid "Every error says what is wrong, where, and what to do. The response to this request is {{status}}:"
        msgstr "Cada error indica qué está mal, dónde y qué hacer. Esta solicitud se responde con {{status}}:"

        msgid "An error response"
        msgstr "La respuesta con un error"

        # Packages/Server/AdminPanel/Templates/audit.mustache

        msgid "Operation"
        msgstr "Operación"

        msgid "Source"
        msgstr "Origen"

        msgid "Object's id"
        msgstr "ID del objeto"

        msgid "User's address or id"
        msgstr "Dirección o ID del usuario"

        msgid "From (UTC)"
        msgstr "Desde (UTC)"

        msgid "Before (UTC)"
        msgstr "Antes de (UTC)"

        msgid "Text"
        msgstr "Texto"

        msgid "Search"
        msgstr "Buscar"

        msgid "Show everything"
        msgstr "Mostrar todo"

        msgid "Changes, newest first; the log is complete until <1>{{upTo}}</1>"
        msgstr "Cambios, los más recientes primero; el registro está completo hasta <1>{{upTo}}</1>"

        msgid "Changes, newest first"
        msgstr "Cambios, los más recientes primero"

        msgid "When (UTC)"
        msgstr "Cuándo (UTC)"

        msgid "Object"
        msgstr "Objeto"

        msgid "Who"
        msgstr "Quién"

        msgid "What"
        msgstr "Qué"

        msgid "When"
        msgstr "Cuándo"

        msgid "Pages of the log"
        msgstr "Páginas del registro"

        msgid "Older"
        msgstr "Más antiguo"

        msgid "No changes match. <1>Show everything</1>, or search for something else."
        msgstr "No coincide ningún cambio. <1>Muestre todo</1> o busque otra cosa."

        # Packages/Server/AdminPanel/Templates/backup_delete.mustache

        msgid "<1>This can't be undone.</1> The backup {{name}} is deleted from the server's disk. Copies that were downloaded stay."
        msgstr "<1>Esta acción no se puede deshacer.</1> La copia de seguridad {{name}} se elimina del disco del servidor. Las copias que se hayan descargado se conservan."

        msgid "Delete the backup"
        msgstr "Eliminar la copia de seguridad"

        # Packages/Server/AdminPanel/Templates/backups.mustache

        msgid "To turn them on, set <1>TOMBOLO_BACKUPS</1> to a folder and <2>TOMBOLO_BACKUP_URL</2> to a database user that may read everything, and restart the server. The page <3>docs/backups.md</3> has the steps."
        msgstr "Para activarlas, defina <1>TOMBOLO_BACKUPS</1> con una carpeta y <2>TOMBOLO_BACKUP_URL</2> con un usuario de la base de datos que pueda leerlo todo, y reinicie el servidor. La página <3>docs/backups.md</3> explica los pasos."

        msgid "Backups of the whole database, in <1>{{folder}}</1> on this server. {{schedule}} Backups made by hand stay until somebody deletes them."
        msgstr "Copias de seguridad de toda la base de datos, en <1>{{folder}}</1> de este servidor. {{schedule}} Las hechas a mano permanecen hasta que alguien las elimine."

        msgid "They are restored with <1>pg_restore</1>, or here with <2>TOMBOLO_RESTORE_URL</2>: see <3>docs/backups.md</3>."
        msgstr "Se restauran con <1>pg_restore</1>, o aquí con <2>TOMBOLO_RESTORE_URL</2>: véase <3>docs/backups.md</3>."

        msgid "Backups can't currently be restored here. {{.}}"
        msgstr "Ahora no se pueden restaurar aquí copias de seguridad. {{.}}"

        msgid "Make a backup now"
        msgstr "Crear una copia de seguridad ahora"

        msgid "There are no backups yet."
        msgstr "Todavía no hay copias de seguridad."

        msgid "A backup contains everything: all records, accounts and password hashes. Keep downloads as safe as the database."
        msgstr "Una copia de seguridad lo contiene todo: todos los objetos, las cuentas y los hashes de las contraseñas. Proteja las descargas tanto como la base de datos."

        msgid "Made"
        msgstr "Creada"

        msgid "Size"
        msgstr "Tamaño"

        msgid "By"
        msgstr "Por"

        msgid "Took"
        msgstr "Duración"

        msgid "PostgreSQL"
        msgstr "PostgreSQL"

        msgid "Actions"
        msgstr "Acciones"

        msgid "Download<1> {{name}}</1>"
        msgstr "Descargar<1> {{name}}</1>"

        msgid "Restore…<1> {{name}}</1>"
        msgstr "Restaurar…<1> {{name}}</1>"

        msgid "Delete…<1> {{name}}</1>"
        msgstr "Eliminar…<1> {{name}}</1>"

        msgid "Backups that failed"
        msgstr "Copias de seguridad con error"

        msgid "Began"
        msgstr "Inicio"

        msgid "What went wrong"
        msgstr "Qué falló"

        msgid "Databases that were put aside"
        msgstr "Bases de datos apartadas"

        msgid "Each was in use until a backup or another of these databases replaced it. Nobody writes to them. They take up disk space until somebody deletes them."
        msgstr "Cada una se usaba hasta que una copia de seguridad, u otra de estas, ocupó su lugar. Nadie escribe en ellas. Ocupan espacio en disco hasta que alguien las elimine."

        msgid "In use until"
        msgstr "En uso hasta"

        msgid "Bring back…<1> {{name}}</1>"
        msgstr "Recuperar…<1> {{name}}</1>"

        msgid "Restores"
        msgstr "Restauraciones"

        msgid "Outcome"
        msgstr "Resultado"

        # Packages/Server/AdminPanel/Templates/bulk_clash.mustache

        msgid "{{message}} Nothing was changed."
        msgstr "{{message}} No se cambió nada."

        msgid "The matching objects have changed since you looked. Check what would happen now before you go on."
        msgstr "Los objetos que coinciden han cambiado desde que los vio. Compruebe qué pasaría ahora antes de continuar."

        msgid "See what would happen now"
        msgstr "Ver qué pasaría ahora"

        # Packages/Server/AdminPanel/Templates/bulk_fields.mustache

        msgid "{{about}}. Tick the fields to change, and choose the new values. The next page shows what would happen."
        msgstr "{{about}}. Marque los campos que desea cambiar y elija los nuevos valores. La página siguiente muestra qué pasaría."

        msgid "Continue"
        msgstr "Continuar"

        msgid "Change {{label}}"
        msgstr "Cambiar {{label}}"

        msgid "See what would happen"
        msgstr "Ver qué pasaría"

        # Packages/Server/AdminPanel/Templates/bulk_trial.mustache

        msgid "New values:"
        msgstr "Nuevos valores:"

        msgid "None of those tried would be refused."
        msgstr "Ninguno de los probados se rechazaría."

        msgid "The job runs in the background, even if you close this page. Its page shows the progress, and has a button to undo it."
        msgstr "La tarea se ejecuta en segundo plano, aunque cierre esta página. Su página muestra el progreso y tiene un botón para deshacerla."

        msgid "<1>This can't be undone</1>: the class has no trash."
        msgstr "<1>Esta acción no se puede deshacer</1>: la clase no tiene papelera."

        msgid "Reason <1>(optional; shown in the trash)</1>"
        msgstr "Motivo <1>(opcional; se muestra en la papelera)</1>"

        msgid "All of them would be refused, so there is nothing to start. <1>Back to the list</1>"
        msgstr "Todos se rechazarían, así que no hay nada que iniciar. <1>Volver a la lista</1>"

        msgid "There are no objects left to change. <1>Back to the list</1>"
        msgstr "No quedan objetos que cambiar. <1>Volver a la lista</1>"

        # Packages/Server/AdminPanel/Templates/conflict.mustache

        msgid "Somebody else saved this after you opened the form. Your changes aren't saved yet."
        msgstr "Otra persona guardó esto después de que usted abriera el formulario. Sus cambios todavía no se han guardado."

        msgid "Who changed it:"
        msgstr "Quién lo cambió:"

        msgid "The audit log doesn't show yet who changed {{.}}: it's about a second behind. The history will show it."
        msgstr "El registro de auditoría aún no indica quién cambió {{.}}: lleva un segundo de retraso aproximadamente. Después aparecerá en el historial."

        msgid "History"
        msgstr "Historial"

        msgid "Choose a value for each field that you both changed. Where only one of you changed a field, that change is already selected."
        msgstr "Elija un valor para cada campo que cambiaron ambos. Donde solo una persona cambió un campo, ese cambio ya está seleccionado."

        msgid "Your choice for {{lost}} isn't kept: choose again afterwards."
        msgstr "Su elección para {{lost}} no se conserva: vuelva a hacerla después."

        msgid "(changed by both of you)"
        msgstr "(cambiado por ambos)"

        msgid "Before: {{was}}"
        msgstr "Antes: {{was}}"

        msgid "Before:"
        msgstr "Antes:"

        msgid "Current value: {{now}}"
        msgstr "Valor actual: {{now}}"

        msgid "(changed)"
        msgstr "(cambiado)"

        msgid "Your value: {{own}}"
        msgstr "Su valor: {{own}}"

        # Packages/Server/AdminPanel/Templates/control.mustache

        msgid "(required)"
        msgstr "(obligatorio)"

        msgid "Search {{plural}}"
        msgstr "Buscar en {{plural}}"

        msgid "Find"
        msgstr "Buscar"

        msgid "Determines the choices for {{fields}}."
        msgstr "Determina qué se ofrece para {{fields}}."

        msgid "Update the choices<1> of {{fields}}</1>"
        msgstr "Actualizar las opciones<1> de {{fields}}</1>"

        # Packages/Server/AdminPanel/Templates/device_session.mustache

        msgid "What the gateway currently knows about this device."
        msgstr "Lo que la pasarela sabe ahora de este dispositivo."

        msgid "None."
        msgstr "Ninguna."

        # Packages/Server/AdminPanel/Templates/devices.mustache

        msgid "Devices that are connected now, as reported by their gateways."
        msgstr "Dispositivos conectados en este momento, según sus pasarelas."

        msgid "Connected"
        msgstr "Conectados"

        msgid "Address or id"
        msgstr "Dirección o ID"

        msgid "any"
        msgstr "cualquiera"

        msgid "Gateways"
        msgstr "Pasarelas"

        msgid "Now"
        msgstr "Ahora"

        msgid "Last heard from"
        msgstr "Última señal"

        msgid "Devices"
        msgstr "Dispositivos"

        msgid "Newest tick"
        msgstr "Tick más reciente"

        msgid "No connected devices match."
        msgstr "No coincide ningún dispositivo conectado."

        # Packages/Server/AdminPanel/Templates/devices_known.mustache

        msgid "Every known device that has synced, the most recently seen first."
        msgstr "Todos los dispositivos conocidos que se han sincronizado, empezando por los vistos más recientemente."

        msgid "No device has synced yet."
        msgstr "Todavía no se ha sincronizado ningún dispositivo."

        msgid "First seen"
        msgstr "Visto por primera vez"

        msgid "Last seen"
        msgstr "Visto por última vez"

        msgid "Uploads"
        msgstr "Subidas"

        msgid "Why is an object missing on {{id}}?"
        msgstr "¿Por qué falta un objeto en {{id}}?"

        # Packages/Server/AdminPanel/Templates/devices_why.mustache

        msgid "Why a device has an object, or doesn't have it. The answer comes from the gateway that the device is connected to, and from the same conditions that decide what the gateway sends."
        msgstr "Por qué un dispositivo tiene un objeto o no lo tiene. La respuesta procede de la pasarela a la que está conectado el dispositivo y de las mismas condiciones que deciden lo que envía la pasarela."

        msgid "Its id."
        msgstr "El ID del objeto."

        msgid "An e-mail address or an id: asks about all devices of this user."
        msgstr "Una dirección de correo electrónico o un ID: pregunta por todos los dispositivos de este usuario."

        msgid "Or a single device: its id from the lists."
        msgstr "O un solo dispositivo: su ID, tomado de las listas."

        msgid "Property"
        msgstr "Propiedad"

        msgid "If the device has the object, but lacks this property."
        msgstr "Si el dispositivo tiene el objeto, pero le falta esta propiedad."

        msgid "Ask the gateways"
        msgstr "Preguntar a las pasarelas"

        msgid "<1>{{.}}</1> of {{user}}: {{place}} <2>{{verdict}}</2>"
        msgstr "<1>{{.}}</1> de {{user}}: {{place}} <2>{{verdict}}</2>"

        # Packages/Server/AdminPanel/Templates/document.mustache

        msgid "Full text"
        msgstr "Texto completo"

        msgid "Changes"
        msgstr "Cambios"

        msgid "Old"
        msgstr "Antiguo"

        msgid "New"
        msgstr "Nuevo"

        msgid "Compare with version {{.}}"
        msgstr "Comparar con la versión {{.}}"

        msgid "Text of the document"
        msgstr "Texto del documento"

        # Packages/Server/AdminPanel/Templates/documents.mustache

        msgid "The models and rules that this server uses, with all earlier versions."
        msgstr "Los modelos y las reglas que usa este servidor, con todas las versiones anteriores."

        msgid "In use"
        msgstr "En uso"

        msgid "Rules"
        msgstr "Reglas"

        msgid "Change<1> the model and rules of {{name}}</1>"
        msgstr "Cambiar<1> el modelo y las reglas de {{name}}</1>"

        msgid "model"
        msgstr "modelo"

        msgid "To change models and rules here, set <1>{{.}}</1> and restart the server: see <2>docs/database-roles.md</2>."
        msgstr "Para cambiar aquí modelos y reglas, defina <1>{{.}}</1> y reinicie el servidor: véase <2>docs/database-roles.md</2>."

        msgid "Version"
        msgstr "Versión"

        msgid "Stored"
        msgstr "Guardada"

        msgid "current"
        msgstr "actual"

        msgid "Compare with {{.}}"
        msgstr "Comparar con {{.}}"

        msgid "first version"
        msgstr "primera versión"

        msgid "Newer"
        msgstr "Más reciente"

        # Packages/Server/AdminPanel/Templates/edit.mustache

        msgid "Not saved:"
        msgstr "No se guardó:"

        msgid "Nothing was saved:"
        msgstr "No se guardó nada:"

        msgid "Edit together with:"
        msgstr "Editar junto con:"

        msgid "Not in this form: {{.}}."
        msgstr "No están en este formulario: {{.}}."

        msgid "Saved together with the fields above: all of it, or nothing."
        msgstr "Se guarda junto con los campos de arriba: todo o nada."

        msgid "What you enter in the empty rows creates new {{pluralInSentence}}; rows that you leave empty are ignored."
        msgstr "Lo que introduzca en las filas vacías crea objetos nuevos ({{pluralInSentence}}); las filas que deje vacías se ignoran."

        msgid "New ones can't be added here: they need {{.}}."
        msgstr "Aquí no se pueden añadir nuevos: necesitan {{.}}."

        msgid "Only the first {{maximum}} are shown."
        msgstr "Solo se muestran los primeros {{maximum}}."

        msgid "List of all {{pluralInSentence}}"
        msgstr "Lista completa: {{pluralInSentence}}"

        msgid "There is nothing to edit."
        msgstr "No hay nada que editar."

        # Packages/Server/AdminPanel/Templates/failure.mustache

        msgid "What you entered"
        msgstr "Lo que introdujo"

        msgid "None of this was saved: copy what you need."
        msgstr "No se guardó nada de esto: copie lo que necesite."

        msgid "Back to the overview"
        msgstr "Volver al resumen"

        msgid "Request {{requestID}}"
        msgstr "Solicitud {{requestID}}"

        # Packages/Server/AdminPanel/Templates/form_bytes.mustache

        msgid "Current: {{text}}"
        msgstr "Actual: {{text}}"

        msgid "Download"
        msgstr "Descargar"

        msgid "Choose the file again: it wasn't saved."
        msgstr "Elija de nuevo el archivo: no se guardó."

        msgid "Up to {{megabytes}} MiB. A new file replaces the current one."
        msgstr "Hasta {{megabytes}} MiB. Un archivo nuevo sustituye al actual."

        msgid "Remove the {{label}}"
        msgstr "Quitar {{label}}"

        # Packages/Server/AdminPanel/Templates/form_group.mustache

        msgid "Remove {{label}}"
        msgstr "Quitar {{label}}"

        msgid "Add {{label}}"
        msgstr "Añadir {{label}}"

        # Packages/Server/AdminPanel/Templates/form_list.mustache

        msgid "Up: {{title}}"
        msgstr "Subir: {{title}}"

        msgid "Up"
        msgstr "Subir"

        msgid "Down: {{title}}"
        msgstr "Bajar: {{title}}"

        msgid "Down"
        msgstr "Bajar"

        msgid "Remove: {{title}}"
        msgstr "Quitar: {{title}}"

        msgid "Add to {{label}}"
        msgstr "Añadir a {{label}}"

        msgid "A form can have at most {{maximum}} of them."
        msgstr "Un formulario admite como máximo {{maximum}}."

        msgid "Add<1> to {{label}}</1>"
        msgstr "Añadir<1> a {{label}}</1>"

        msgid "Add one<1> to {{label}}</1>"
        msgstr "Añadir uno<1> a {{label}}</1>"

        # Packages/Server/AdminPanel/Templates/help.mustache

        msgid "Keys"
        msgstr "Atajos de teclado"

        msgid "Everything works with Tab, Enter and the space bar, and without JavaScript. With JavaScript, these keys work while you aren't typing in a field:"
        msgstr "Todo funciona con el tabulador, la tecla Enter y la barra espaciadora, y sin JavaScript. Con JavaScript, estas teclas funcionan mientras no se escribe en un campo:"

        msgid "goes to the search field of a list"
        msgstr "va al campo de búsqueda de una lista"

        msgid "<1>g</1> then <2>o</2>"
        msgstr "<1>g</1> y luego <2>o</2>"

        msgid "opens the overview"
        msgstr "abre el resumen"

        msgid "<1>g</1> then <2>h</2>"
        msgstr "<1>g</1> y luego <2>h</2>"

        msgid "opens this page"
        msgstr "abre esta página"

        msgid "go to the next or the previous row of a list; Enter opens it"
        msgstr "van a la fila siguiente o anterior de una lista; Enter la abre"

        msgid "ticks or unticks the row"
        msgstr "marca o desmarca la fila"

        msgid "open the next or the previous page of a list"
        msgstr "abren la página siguiente o anterior de una lista"

        msgid "opens the form of a record"
        msgstr "abre el formulario de un objeto"

        msgid "Switch the keys off"
        msgstr "Desactivar los atajos"

        msgid "Addresses"
        msgstr "Direcciones"

        msgid "What a list shows is in its address: search, filters, order, columns and page. Keep it as a bookmark, or send it to a colleague, who sees what their own roles let them see."
        msgstr "Lo que muestra una lista está en su dirección: búsqueda, filtros, orden, columnas y página. Guárdela como marcador o envíesela a un colega, que verá lo que sus propios roles le permiten."

        msgid "Your session"
        msgstr "Su sesión"

        msgid "You are logged out after {{idleHours}} hours of inactivity, and at the latest {{hours}} hours after you logged in. Before anything that can't be undone, you are asked for your password again, unless you entered it in the last {{minutes}} minutes. Forms that are open in other windows must be reloaded after that."
        msgstr "Su sesión se cierra tras {{idleHours}} horas de inactividad y, como máximo, {{hours}} horas después de iniciarla. Antes de cualquier acción que no se pueda deshacer se le pide de nuevo su contraseña, salvo que la haya introducido en los últimos {{minutes}} minutos. Después hay que volver a cargar los formularios abiertos en otras ventanas."

        # Packages/Server/AdminPanel/Templates/history.mustache

        msgid "<1>To the record</1>. Lists and secret values can't be put back. Putting something back is a change like any other: your own permissions apply, and it appears in this history."
        msgstr "<1>Ir al objeto</1>. Las listas y los valores secretos no se pueden recuperar. Recuperar algo es un cambio como cualquier otro: se aplican sus propios permisos, y aparece en este historial."

        msgid "<1>{{time}}</1> UTC: {{headline}}"
        msgstr "<1>{{time}}</1> UTC: {{headline}}"

        msgid "(list {{list}})"
        msgstr "(lista {{list}})"

        msgid "Reason: {{.}}"
        msgstr "Motivo: {{.}}"

        msgid "Before"
        msgstr "Antes"

        msgid "After"
        msgstr "Después"

        msgid "Put back"
        msgstr "Recuperar"

        msgid "Put back<1> {{label}} as it was before {{time}}</1>"
        msgstr "Recuperar<1> {{label}} como estaba antes de {{time}}</1>"

        msgid "Undo this change<1> of {{time}}</1>"
        msgstr "Deshacer este cambio<1> de {{time}}</1>"

        msgid "Put back this version<1> of {{time}}</1>"
        msgstr "Recuperar esta versión<1> de {{time}}</1>"

        msgid "Create it again<1> as it was until {{time}}</1>"
        msgstr "Crearlo de nuevo<1> como estaba hasta {{time}}</1>"

        msgid "The log has no changes to this object that you may see."
        msgstr "El registro no tiene cambios de este objeto que usted pueda ver."

        msgid "Pages of the history"
        msgstr "Páginas del historial"

        # Packages/Server/AdminPanel/Templates/import.mustache

        msgid "CSV cells are separated by"
        msgstr "Las celdas del CSV se separan con"

        msgid "File"
        msgstr "Archivo"

        msgid "CSV with a header, a JSON array, or JSON lines; up to {{megabytes}} MiB. Save an Excel workbook as CSV UTF-8 first. Exported files can be imported as they are."
        msgstr "CSV con cabecera, una lista JSON o JSON Lines; hasta {{megabytes}} MiB. Guarde antes un libro de Excel como CSV UTF-8. Lo que escribió una exportación se puede importar tal cual."

        msgid "Upload the file"
        msgstr "Subir el archivo"

        msgid "Back to {{plural}}"
        msgstr "Volver a {{plural}}"

        msgid "Nothing is imported yet: the next page shows the columns, and what would happen."
        msgstr "Todavía no se importa nada: la página siguiente muestra las columnas y qué pasaría."

        # Packages/Server/AdminPanel/Templates/import_file.mustache

        msgid "{{file}}: {{rows}}. Nothing is imported yet."
        msgstr "{{file}}: {{rows}}. Todavía no se ha importado nada."

        msgid "What the columns become"
        msgstr "En qué se convierten las columnas"

        msgid "Column"
        msgstr "Columna"

        msgid "Becomes"
        msgstr "Se convierte en"

        msgid "First values"
        msgstr "Primeros valores"

        msgid "nothing"
        msgstr "nada"

        msgid "What to do"
        msgstr "Qué hacer"

        msgid "A row matches the object with the same"
        msgstr "Una fila corresponde al objeto con el mismo valor en"

        msgid "Keep the <1>'</1> before <2>=</2>, <3>+</3>, <4>-</4> and <5>@</5>: it belongs to the text"
        msgstr "Conservar la <1>'</1> antes de <2>=</2>, <3>+</3>, <4>-</4> y <5>@</5>: pertenece al texto"

        msgid "Show what would happen"
        msgstr "Mostrar qué pasaría"

        msgid "Columns that aren't imported:"
        msgstr "Columnas que no se importan:"

        msgid "Why"
        msgstr "Por qué"

        msgid "These are the first ones."
        msgstr "Estos son los primeros."

        msgid "The first rows, as they would be stored"
        msgstr "Las primeras filas, como se guardarían"

        msgid "Values"
        msgstr "Valores"

        msgid "See the list of errors"
        msgstr "Véase la lista de errores"

        msgid "All or nothing: if one row is refused, none is imported (up to 500 rows)"
        msgstr "Todo o nada: si se rechaza una fila, no se importa ninguna (hasta 500 filas)"

        msgid "The import runs in the background, even if you close this page. The job's page shows its progress, and has a button to undo it."
        msgstr "Sigue por sí sola, aunque cierre esta página. La página de la tarea muestra cuánto ha avanzado y permite deshacerla."

        msgid "Start the import"
        msgstr "Iniciar la importación"

        msgid "Discard the file"
        msgstr "Descartar el archivo"

        # Packages/Server/AdminPanel/Templates/invitation.mustache

        msgid "{{invites}} The invitation is valid until {{until}}, for the address it was made for."
        msgstr "{{invites}} La invitación es válida hasta {{until}}, para la dirección a la que se hizo."

        msgid "Log in to accept"
        msgstr "Iniciar sesión para aceptar"

        msgid "Accept with your account"
        msgstr "Aceptar con su cuenta"

        msgid "Create an account to accept"
        msgstr "Crear una cuenta para aceptar"

        msgid "Your name"
        msgstr "Su nombre"

        msgid "A password for your account"
        msgstr "Una contraseña para su cuenta"

        msgid "Create an account and accept"
        msgstr "Crear una cuenta y aceptar"

        msgid "No account yet? Ask the person who invited you to create one: you can only do that yourself with a mailed invitation."
        msgstr "¿Aún no tiene una cuenta? Pídasela a quien le invitó: la invitación no se envió por correo, así que no permite crear una."

        msgid "You entered the name {{.}}."
        msgstr "Introdujo el nombre {{.}}."

        # Packages/Server/AdminPanel/Templates/invitation_accept.mustache

        msgid "You are logged in as {{email}}."
        msgstr "Ha iniciado sesión como {{email}}."

        msgid "The invitation is for another address: log out, and log in with the account that has it."
        msgstr "La invitación es para otra dirección: cierre sesión e iníciela con la cuenta que la tenga."

        msgid "You can only accept an invitation that was made for this address."
        msgstr "Solo puede aceptar una invitación hecha para esta dirección."

        msgid "Accept the invitation"
        msgstr "Aceptar la invitación"

        msgid "Not now"
        msgstr "Ahora no"

        # Packages/Server/AdminPanel/Templates/invitation_joined.mustache

        msgid "Your account has the role {{role}}."
        msgstr "Su cuenta tiene el rol {{role}}."

        # Packages/Server/AdminPanel/Templates/job.mustache

        msgid "Progress"
        msgstr "Progreso"

        msgid "Undo…"
        msgstr "Deshacer…"

        msgid "New values"
        msgstr "Nuevos valores"

        msgid "Filters"
        msgstr "Filtros"

        msgid "If it's interrupted"
        msgstr "Si se interrumpe"

        msgid "Results: {{.}}"
        msgstr "Resultados: {{.}}"

        msgid "Results"
        msgstr "Resultados"

        msgid "Table of results"
        msgstr "Tabla de resultados"

        msgid "In the file"
        msgstr "En el archivo"

        msgid "Reason"
        msgstr "Motivo"

        msgid "There are no results here."
        msgstr "Aquí no hay resultados."

        # Packages/Server/AdminPanel/Templates/job_undo.mustache

        msgid "{{touches}} Anything changed since then stays as it is, and the new job's page lists it."
        msgstr "{{touches}} Lo que alguien haya cambiado desde entonces queda como está, y la página de la nueva tarea lo muestra."

        msgid "Undo this job"
        msgstr "Deshacer esta tarea"

        # Packages/Server/AdminPanel/Templates/jobs.mustache

        msgid "Your long-running work: changes of many objects, imports, and undoing them. Jobs run in the background, and are kept for 30 days."
        msgstr "Sus trabajos de larga duración: cambios de muchos objetos, importaciones y su reversión. Las tareas se ejecutan en segundo plano y se conservan 30 días."

        msgid "You have no jobs. Tick rows in a list, or choose all that match, to change many objects at once."
        msgstr "No tiene tareas. Marque filas en una lista, o elija todo lo que coincide, para cambiar muchos objetos a la vez."

        msgid "Job"
        msgstr "Tarea"

        msgid "Objects"
        msgstr "Objetos"

        # Packages/Server/AdminPanel/Templates/kept_delete.mustache

        msgid "<1>This can't be undone.</1> The database {{name}} is deleted with everything in it. The database in use and all backups stay."
        msgstr "<1>Esto no se puede deshacer.</1> La base de datos {{name}} se elimina con todo lo que contiene. La que está en uso permanece, y también las copias de seguridad."

        msgid "Delete the database"
        msgstr "Eliminar la base de datos"

        # Packages/Server/AdminPanel/Templates/layout.mustache

        msgid "{{title}} – Tombolo"
        msgstr "{{title}} – Tombolo"

        msgid "Skip to the content"
        msgstr "Ir al contenido"

        msgid "You are viewing the panel as <1>{{name}}</1>. You can't change anything, and what you view is logged."
        msgstr "Está viendo el panel como <1>{{name}}</1>. No puede cambiar nada, y lo que ve queda registrado."

        msgid "Stop viewing"
        msgstr "Dejar esta vista"

        msgid "Tombolo"
        msgstr "Tombolo"

        msgid "Logged in as"
        msgstr "Sesión iniciada como"

        msgid "Colours"
        msgstr "Colores"

        msgid "Language"
        msgstr "Idioma"

        msgid "Apply"
        msgstr "Aplicar"

        msgid "Change password"
        msgstr "Cambiar contraseña"

        msgid "Log out"
        msgstr "Cerrar sesión"

        msgid "Panel"
        msgstr "Panel"

        msgid "Menu"
        msgstr "Menú"

        msgid "Where you are"
        msgstr "Dónde se encuentra"

        # Packages/Server/AdminPanel/Templates/list.mustache

        msgid "New {{singular}}"
        msgstr "Crear {{singular}}"

        msgid "Edit these rows"
        msgstr "Editar estas filas"

        msgid "Import"
        msgstr "Importar"

        msgid "Filter"
        msgstr "Filtrar"

        msgid "Test"
        msgstr "Condición"

        msgid "Value"
        msgstr "Valor"

        msgid "For a link, enter the title of the linked object. Separate several values with commas. Times are in UTC."
        msgstr "En un enlace, el título del objeto enlazado. Varios valores, separados por comas. Las horas están en UTC."

        msgid "Add the filter"
        msgstr "Añadir el filtro"

        msgid "Counts"
        msgstr "Recuentos"

        msgid "Counting takes too long here. Search or filter to narrow the list."
        msgstr "Contar tarda demasiado aquí. Acote la búsqueda o los filtros."

        msgid "Hide counts"
        msgstr "Ocultar los recuentos"

        msgid "Show counts"
        msgstr "Mostrar los recuentos"

        msgid "Columns"
        msgstr "Columnas"

        msgid "Columns to show"
        msgstr "Columnas que mostrar"

        msgid "Show these"
        msgstr "Mostrar estas"

        msgid "Views"
        msgstr "Vistas"

        msgid "Delete<1> the view {{name}}</1>"
        msgstr "Eliminar<1> la vista {{name}}</1>"

        msgid "Save this list as"
        msgstr "Guardar esta lista como"

        msgid "Save the view"
        msgstr "Guardar la vista"

        msgid "Export"
        msgstr "Exportar"

        msgid "All rows of this list, on all of its pages, with its search, filters and order. All fields are included unless you have chosen columns."
        msgstr "Todas las filas de esta lista, en todas sus páginas, con su búsqueda, sus filtros y su orden. Se incluyen todos los campos, salvo que haya elegido columnas."

        msgid "Format"
        msgstr "Formato"

        msgid "Add the titles of linked objects"
        msgstr "Añadir los títulos de los objetos enlazados"

        msgid "Programs can read it through the <1>API</1>."
        msgstr "Los programas la leen mediante la <1>API</1>."

        msgid "Rows"
        msgstr "Filas"

        msgid "Remove the filter: {{text}}"
        msgstr "Quitar el filtro: {{text}}"

        msgid "Remove all"
        msgstr "Quitar todos"

        msgid "{{plural}}: {{from}}–{{to}} of {{total}}"
        msgstr "{{plural}}: {{from}}–{{to}} de {{total}}"

        msgid "Tick all on this page"
        msgstr "Marcar todas en esta página"

        msgid "Tick"
        msgstr "Marcar"

        msgid "Tick {{title}}"
        msgstr "Marcar {{title}}"

        msgid "Change several"
        msgstr "Cambiar varios"

        msgid "Apply to"
        msgstr "Aplicar a"

        msgid "the ticked ones"
        msgstr "los marcados"

        msgid "all {{count}} on this page"
        msgstr "todos los de esta página ({{count}})"

        msgid "First"
        msgstr "Primera"

        msgid "Page {{page}} of {{.}}"
        msgstr "Página {{page}} de {{.}}"

        msgid "Last"
        msgstr "Última"

        msgid "No {{pluralInSentence}} match. <1>Show all</1>, or search for something else."
        msgstr "No hay coincidencias en {{pluralInSentence}}. <1>Muestre todo</1> o busque otra cosa."

        msgid "There are no {{pluralInSentence}} yet, or none that you may see."
        msgstr "Todavía no hay {{pluralInSentence}} que usted pueda ver."

        # Packages/Server/AdminPanel/Templates/login_code.mustache

        msgid "You are logging in as {{email}}."
        msgstr "Está iniciando sesión como {{email}}."

        msgid "Code from your authenticator app"
        msgstr "Código de su aplicación de autenticación"

        msgid "Six digits. If you don't have your phone, use a recovery code."
        msgstr "Seis cifras. Si no tiene su teléfono, use un código de recuperación."

        # Packages/Server/AdminPanel/Templates/model_change.mustache

        msgid "What has changed in the meantime"
        msgstr "Qué se cambió entretanto"

        msgid "Nothing here changes anything yet. The next page shows what would happen, and asks for your password."
        msgstr "Aquí todavía no se cambia nada. La página siguiente muestra qué pasaría y pide su contraseña."

        msgid "Usual changes"
        msgstr "Cambios habituales"

        msgid "Each button edits the text of the model below."
        msgstr "Cada botón edita el texto del modelo que aparece más abajo."

        msgid "Add a class"
        msgstr "Añadir una clase"

        msgid "As in Swift, such as Boat. The class gets its own primary key."
        msgstr "Como en Swift, por ejemplo Boat. La clase recibe una clave propia."

        msgid "Deleted objects go to the trash"
        msgstr "Los objetos eliminados van a la papelera"

        msgid "It's embedded: its objects live inside others"
        msgstr "Es incrustada: sus objetos están dentro de otros"

        msgid "Add the class"
        msgstr "Añadir la clase"

        msgid "Add a property"
        msgstr "Añadir una propiedad"

        msgid "Choose a class"
        msgstr "Elija una clase"

        msgid "It may be nil. Links and embedded objects always may be, lists never."
        msgstr "Puede ser nil. Los enlaces y los objetos incrustados siempre pueden serlo; las listas, nunca."

        msgid "With an index, for filters and sorting"
        msgstr "Con un índice, para filtrar y ordenar"

        msgid "Possible values"
        msgstr "Valores posibles"

        msgid "One per line, for an enumeration. Leave it empty to allow all values."
        msgstr "Uno por línea, para una enumeración. Déjelo vacío si todos son posibles."

        msgid "Hint"
        msgstr "Indicación"

        msgid "What people should know before they enter a value, such as its unit."
        msgstr "Lo que conviene saber antes de introducir un valor, por ejemplo su unidad."

        msgid "Add the property"
        msgstr "Añadir la propiedad"

        msgid "Rename a property"
        msgstr "Cambiar el nombre de una propiedad"

        msgid "Choose a property"
        msgstr "Elija una propiedad"

        msgid "New name"
        msgstr "Nuevo nombre"

        msgid "The values stay. Older versions of the app keep using the old name."
        msgstr "Los valores se conservan. Las versiones anteriores de la aplicación siguen con el nombre antiguo."

        msgid "Rename the property"
        msgstr "Cambiar el nombre de la propiedad"

        msgid "Drop a class or a property"
        msgstr "Quitar una clase o una propiedad"

        msgid "Class or property"
        msgstr "Clase o propiedad"

        msgid "Choose what to drop"
        msgstr "Elija lo que quiere quitar"

        msgid "It is retired: the table or the column stays for older versions of the app."
        msgstr "Queda retirada: la tabla o la columna se conserva para las versiones anteriores de la aplicación."

        msgid "Drop it"
        msgstr "Quitar"

        msgid "Text of the model"
        msgstr "Texto del modelo"

        msgid "JSON, as described in <1>docs/model-documents.md</1>. What you leave out is retired."
        msgstr "JSON, como se describe en <1>docs/model-documents.md</1>. Lo que omita quedará retirado."

        msgid "A file instead of this text"
        msgstr "Un archivo en lugar de este texto"

        msgid "Text of the rules"
        msgstr "Texto de las reglas"

        msgid "YAML or JSON, as described in <1>docs/rules.md</1>. They apply exactly as they stand here, including the boxes of the permission matrix. Nobody sees a new class until it has rules."
        msgstr "YAML o JSON, como se describe en <1>docs/rules.md</1>. Se aplican tal como figuran aquí, con las casillas de la matriz de permisos. Nadie ve una clase nueva que no tenga reglas."

        # Packages/Server/AdminPanel/Templates/model_plan.mustache

        msgid "Nothing has been changed yet."
        msgstr "Todavía no se ha cambiado nada."

        msgid "Consequences for others"
        msgstr "Qué podrían echar en falta otros"

        msgid "No values are deleted. Your own SQL, views, functions and services stop working if they use an old name."
        msgstr "No se elimina ningún valor. El SQL, las vistas, las funciones y los servicios propios que usen un nombre antiguo dejarán de funcionar."

        msgid "The database already has all of this: there is nothing to do."
        msgstr "La base de datos ya tiene todo esto: no hay nada que hacer."

        msgid "Steps"
        msgstr "Pasos"

        msgid "All of it happens in one transaction: if anything fails, nothing is changed."
        msgstr "Todo ocurre en una sola transacción: si algo falla, no se cambia nada."

        msgid "Some steps run outside a transaction, so that others can keep writing. If anything fails after one of them, the finished steps stay in the database, but the new model doesn't take effect. Applying it again continues from there."
        msgstr "Algunos pasos se realizan fuera de una transacción, para que otros puedan seguir escribiendo. Si algo falla después de uno de ellos, lo que se terminó permanece en la base de datos y el nuevo modelo no se aplica. Al aplicar lo mismo otra vez, se continúa desde ahí."

        msgid "These tables are locked while the transaction runs, and others have to wait. The transaction itself waits up to {{lockSeconds}} seconds for each table, then gives up."
        msgstr "Estas tablas quedan bloqueadas mientras dura la transacción, y los demás esperan. Ella misma espera {{lockSeconds}} segundos por cada una y después desiste."

        msgid "{{name}} (outside a transaction)"
        msgstr "{{name}} (fuera de una transacción)"

        msgid "SQL of the step"
        msgstr "SQL del paso"

        msgid "Remarks"
        msgstr "Observaciones"

        msgid "{{title}}: lines"
        msgstr "{{title}}: líneas"

        msgid "Tick this first: nothing was done."
        msgstr "Marque primero esta casilla: no se hizo nada."

        msgid "I have read the consequences for others"
        msgstr "He leído lo que otros podrían echar en falta"

        msgid "Back to the text"
        msgstr "Volver al texto"

        # Packages/Server/AdminPanel/Templates/model_run.mustache

        msgid "This server hasn't changed any model since it was started."
        msgstr "Este servidor no ha cambiado ningún modelo desde que se inició."

        msgid "What was stored is in the <1>history of the documents</1>."
        msgstr "Lo que se guardó figura en el <1>historial de los documentos</1>."

        msgid "It continues even if you close this page."
        msgstr "Continúa aunque cierre esta página."

        msgid "The documents are unchanged, unless the history has a newer version. Finished steps that ran outside a transaction stay."
        msgstr "Los documentos están como estaban, salvo que el historial tenga una versión más reciente. De los pasos que el plan realiza fuera de una transacción, permanecen los que se terminaron."

        msgid "All servers use it within a second or two. Its version is in the <1>history of the documents</1>."
        msgstr "Todos los servidores lo usan en uno o dos segundos. Su versión figura en el <1>historial de los documentos</1>."

        msgid "What is left to do in Swift"
        msgstr "Qué queda por hacer en Swift"

        msgid "The app's classes don't have this change yet. Installed apps continue as they are."
        msgstr "Las clases de la aplicación aún no conocen este cambio. Las aplicaciones instaladas siguen como están."

        msgid "Download <1>the model as it is now</1>, and change the classes to match. A renamed property declares its old name in <2>previousPropertyNames()</2>."
        msgstr "Descargue <1>el modelo actual</1> y cambie las clases para que coincidan. Una propiedad cuyo nombre se cambió declara el antiguo en <2>previousPropertyNames()</2>."

        msgid "Export the document from the classes, and compare it with the download."
        msgstr "Exporte el documento desde las clases y compárelo con el que descargó."

        msgid "Apply it with <1>migration-tool apply</1>. From then on, the classes are the source again."
        msgstr "Aplíquelo con <1>migration-tool apply</1>. Desde ese momento, las clases vuelven a ser la fuente."

        msgid "Until then, <1>migration-tool apply</1> with an older document keeps the classes and properties that were added here, and says so. It refuses the old names of anything renamed here. Everything else becomes what the document says, and the tool lists what it reverts."
        msgstr "Hasta entonces, <1>migration-tool apply</1> con un documento más antiguo conserva las clases y propiedades que se añadieron aquí, y lo indica. Rechaza el nombre antiguo de lo que cambió de nombre aquí. Todo lo demás se aplica como figura en el documento, y la herramienta indica lo que revierte."

        msgid "Download the rules as they are now"
        msgstr "Descargar las reglas actuales"

        # Packages/Server/AdminPanel/Templates/new-password.mustache

        msgid "New password"
        msgstr "Nueva contraseña"

        msgid "At least {{minimum}} characters. Don't use a common password, or one made from your name."
        msgstr "Al menos {{minimum}} caracteres. No use una contraseña común ni una hecha a partir de su nombre."

        msgid "New password again"
        msgstr "Repita la nueva contraseña"

        # Packages/Server/AdminPanel/Templates/overview.mustache

        msgid "Needs attention"
        msgstr "Requiere atención"

        msgid "There is nothing here that you may see. Ask an administrator for a role."
        msgstr "Aquí no hay nada que pueda ver. Pida un rol a un administrador."

        msgid "In the trash"
        msgstr "En la papelera"

        # Packages/Server/AdminPanel/Templates/password.mustache

        msgid "What you are about to do can't be undone, or changes who may do what. It requires your password if you last entered it more than {{minutes}} minutes ago."
        msgstr "Lo que va a hacer no se puede deshacer, o cambia quién puede hacer qué. Requiere su contraseña si la introdujo por última vez hace más de {{minutes}} minutos."

        msgid "Code from your authenticator app, or a recovery code"
        msgstr "Código de su aplicación de autenticación, o un código de recuperación"

        # Packages/Server/AdminPanel/Templates/password_change.mustache

        msgid "Changing your password ends all your other logins, on other computers and on devices that sync."
        msgstr "Cambiar su contraseña cierra todas sus demás sesiones, en otros equipos y en los dispositivos que se sincronizan."

        msgid "Current password"
        msgstr "Contraseña actual"

        msgid "Change the password"
        msgstr "Cambiar la contraseña"

        # Packages/Server/AdminPanel/Templates/password_forgotten.mustache

        msgid "If {{.}} has an account here, a mail with a link is on its way. The link is good for {{minutes}} minutes."
        msgstr "Si {{.}} tiene aquí una cuenta, recibirá un correo con un enlace. El enlace es válido durante {{minutes}} minutos."

        msgid "Enter the address that you log in with. We'll mail you a link to a page where you can set a new password."
        msgstr "Introduzca la dirección con la que inicia sesión. Le enviaremos por correo un enlace a una página donde podrá establecer una nueva contraseña."

        msgid "Send the mail"
        msgstr "Enviar el correo"

        msgid "This server doesn't send mail. Its operator can set a new password for you with <1>migration-tool user password</1>."
        msgstr "Este servidor no envía correo. Quien lo administra puede establecer una nueva contraseña para usted con <1>migration-tool user password</1>."

        # Packages/Server/AdminPanel/Templates/password_reset.mustache

        msgid "All logins were ended, on other computers and on devices that sync. <1>Log in</1> with the new password."
        msgstr "Se cerraron todas las sesiones, en otros equipos y en los dispositivos que se sincronizan. <1>Inicie sesión</1> con la nueva contraseña."

        msgid "Ask for another mail"
        msgstr "Pedir otro correo"

        msgid "Set the password"
        msgstr "Establecer la contraseña"

        # Packages/Server/AdminPanel/Templates/people.mustache

        msgid "Given by"
        msgstr "Otorgado por"

        msgid "Nobody has a role here that you may see."
        msgstr "Nadie tiene aquí un rol que usted pueda ver."

        msgid "Table of people and their roles"
        msgstr "Tabla de personas y sus roles"

        msgid "Person"
        msgstr "Persona"

        msgid "Role"
        msgstr "Rol"

        msgid "Remove…<1> ({{role}}, {{name}})</1>"
        msgstr "Quitar…<1> ({{role}}, {{name}})</1>"

        msgid "Hand a role over"
        msgstr "Traspasar un rol"

        msgid "New {{roleTitle}}"
        msgstr "Nuevo titular del rol {{roleTitle}}"

        msgid "Hand over the role {{roleTitle}}"
        msgstr "Traspasar el rol {{roleTitle}}"

        msgid "The current holder becomes {{left}}."
        msgstr "El titular actual pasa a tener el rol {{left}}."

        msgid "Invite somebody"
        msgstr "Invitar a alguien"

        msgid "Role to give"
        msgstr "Rol que otorgar"

        msgid "Choose one"
        msgstr "Elija uno"

        msgid "Invite"
        msgstr "Invitar"

        msgid "Open invitations"
        msgstr "Invitaciones abiertas"

        msgid "Table of open invitations"
        msgstr "Tabla de invitaciones abiertas"

        msgid "Sent"
        msgstr "Enviada"

        msgid "Expires"
        msgstr "Caduca"

        msgid "Send again<1> to {{email}}</1>"
        msgstr "Volver a enviar<1> a {{email}}</1>"

        msgid "Revoke<1> the invitation of {{email}}</1>"
        msgstr "Revocar<1> la invitación de {{email}}</1>"

        # Packages/Server/AdminPanel/Templates/people_invited.mustache

        msgid "This server doesn't send e-mail. Give this link to {{email}} yourself. It's shown only once, expires in 7 days, and works only for this address:"
        msgstr "Este servidor no envía correo electrónico. Entregue usted este enlace a {{email}}. Se muestra una sola vez, caduca en 7 días y solo sirve para esta dirección:"

        msgid "They need an account with this address first, because a link that wasn't mailed can't create one."
        msgstr "Esa persona necesita antes una cuenta con esta dirección, porque un enlace que no se envió por correo no permite crear una."

        msgid "Back to People"
        msgstr "Volver a Personas"

        # Packages/Server/AdminPanel/Templates/permission_box.mustache

        msgid "The box opens these pages of the panel:"
        msgstr "La casilla abre estas páginas del panel:"

        msgid "The change takes effect within a second, on every server and in every open sync session. It's stored as a new version of the rules, and can be reverted at any time."
        msgstr "El cambio se aplica en un segundo, en todos los servidores y en todas las sesiones de sincronización abiertas. Se guarda como una nueva versión de las reglas y se puede revertir en cualquier momento."

        # Packages/Server/AdminPanel/Templates/permissions.mustache

        msgid "What each role may do, within one object such as an event or everywhere. The classes' own rules may permit more."
        msgstr "Lo que puede hacer cada rol, dentro de un objeto, como un evento, o en todas partes. A ello se añade lo que permiten las reglas de las propias clases."

        msgid "Roles and services"
        msgstr "Roles y servicios"

        msgid "Service"
        msgstr "Servicio"

        msgid "by its rules"
        msgstr "según sus reglas"

        msgid "<1>C</1> create, <2>R</2> read, <3>U</3> update, <4>D</4> delete; <5>–</5> not permitted."
        msgstr "<1>C</1> crear, <2>R</2> leer, <3>U</3> actualizar, <4>D</4> eliminar; <5>–</5> no permitido."

        msgid "Choose a box to change it."
        msgstr "Elija una casilla para cambiarla."

        msgid "You can view this, but not change it."
        msgstr "Puede ver esto, pero no cambiarlo."

        msgid "Add a role…"
        msgstr "Añadir un rol…"

        msgid "What users may do without a role"
        msgstr "Lo que pueden hacer los usuarios sin un rol"

        msgid "Permission"
        msgstr "Permiso"

        msgid "The first group that a user matches applies. What a permission allows is defined in the rules."
        msgstr "Se aplica el primer grupo al que pertenece un usuario. Las reglas definen lo que permite cada permiso."

        # Packages/Server/AdminPanel/Templates/record.mustache

        msgid "Edit"
        msgstr "Editar"

        msgid "Duplicate"
        msgstr "Duplicar"

        msgid "Which devices have it?"
        msgstr "¿Qué dispositivos lo tienen?"

        msgid "{{text}} (you may not see it)"
        msgstr "{{text}} (no puede verlo)"

        msgid "and {{.}} more"
        msgstr "y {{.}} más"

        msgid "Show on openstreetmap.org"
        msgstr "Mostrar en openstreetmap.org"

        msgid "What links here"
        msgstr "Qué enlaza aquí"

        msgid "Edit {{plural}} in one form"
        msgstr "Editar {{plural}} en un formulario"

        msgid "Edit {{plural}} with this {{parent}}"
        msgstr "Editar {{plural}} junto con {{parent}}"

        # Packages/Server/AdminPanel/Templates/recovery_codes.mustache

        msgid "The second factor is on."
        msgstr "El segundo factor está activado."

        msgid "Your earlier recovery codes no longer work."
        msgstr "Sus códigos de recuperación anteriores ya no sirven."

        msgid "If you don't have your phone, each of these logs you in once, instead of the app's code. Print them or write them down: <1>they aren't shown again.</1>"
        msgstr "Si no tiene su teléfono, cada uno de estos códigos le permite iniciar sesión una vez, en lugar del código de la aplicación. Imprímalos o anótelos: <1>no se volverán a mostrar.</1>"

        # Packages/Server/AdminPanel/Templates/removal.mustache

        msgid "{{title}} goes into the trash. {{restorable}}"
        msgstr "{{title}} se moverá a la papelera. {{restorable}}"

        msgid "These belong to it, and go into the trash too:"
        msgstr "Lo siguiente le pertenece y también se moverá a la papelera:"

        msgid "Nothing else goes into the trash."
        msgstr "No se moverá nada más a la papelera."

        msgid "The app would keep it in the trash, so it can't be deleted permanently for now: {{.}}"
        msgstr "La aplicación lo conservaría por ahora en la papelera, sin que se pueda eliminar definitivamente: {{.}}"

        msgid "{{title}} will be deleted permanently, because its class has no trash. This can't be undone."
        msgstr "{{title}} se eliminará definitivamente, porque su clase no tiene papelera. Esta acción no se puede deshacer."

        msgid "These link to it. They lose the link, or are deleted too:"
        msgstr "Lo siguiente enlaza con él. Perderá el enlace o también se eliminará:"

        msgid "Move to trash"
        msgstr "Mover a la papelera"

        # Packages/Server/AdminPanel/Templates/requests.mustache

        msgid "Which servers and time"
        msgstr "Qué servidores y qué período"

        msgid "Requests to this server process since it started: the last {{kept}}, and the last slow, refused and failed ones. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Solicitudes a este proceso del servidor desde que se inició: las últimas {{kept}}, y las últimas lentas, rechazadas y con error. Las solicitudes se agrupan por ruta; los valores de las direcciones y de las cadenas de consulta no se conservan."

        msgid "Requests to all admin servers, as long as they are kept. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Solicitudes a todos los servidores de administración, mientras se conservan. Las solicitudes se agrupan por ruta; los valores de las direcciones y de las cadenas de consulta no se conservan."

        msgid "{{summary}} The busiest minute had {{top}}."
        msgstr "{{summary}} El minuto con más solicitudes tuvo {{top}}."

        msgid "{{summary}} The busiest hour had {{top}}."
        msgstr "{{summary}} La hora con más solicitudes tuvo {{top}}."

        msgid "{{summary}} The busiest day had {{top}}."
        msgstr "{{summary}} El día con más solicitudes tuvo {{top}}."

        msgid "Which requests"
        msgstr "Qué solicitudes"

        msgid "Method"
        msgstr "Método"

        msgid "Route begins with"
        msgstr "La ruta empieza por"

        msgid "IP address"
        msgstr "Dirección IP"

        msgid "Id of the request"
        msgstr "ID de la solicitud"

        msgid "Server"
        msgstr "Servidor"

        msgid "Route"
        msgstr "Ruta"

        msgid "Status"
        msgstr "Estado"

        msgid "Request"
        msgstr "Solicitud"

        msgid "A request that takes {{slowSeconds}} second or longer is slow. The server's log has each request by its id."
        msgstr "Una solicitud que tarda {{slowSeconds}} s o más es lenta. El registro del servidor contiene cada solicitud con su ID."

        msgid "Newest"
        msgstr "Las más recientes"

        # Packages/Server/AdminPanel/Templates/restore.mustache

        msgid "It can't be restored now. {{.}}"
        msgstr "Ahora no se puede restaurar. {{.}}"

        msgid "Back"
        msgstr "Volver"

        msgid "Everything returns to the state it was in when the backup was made."
        msgstr "Todo vuelve a ser como cuando se hizo la copia de seguridad."

        msgid "Everything returns to the state it was in when this database was put aside."
        msgstr "Todo vuelve a ser como cuando se apartó esta base de datos."

        msgid "That was <1>{{relative}}</1>."
        msgstr "Eso fue <1>{{relative}}</1>."

        msgid "The current database is put aside. You can bring it back here."
        msgstr "La base de datos que está en uso se aparta. Puede recuperarla aquí."

        msgid "The server stays available until the new database is filled."
        msgstr "Hasta que la base de datos nueva esté llena, todo sigue funcionando."

        msgid "When the databases are swapped, requests in progress fail, and people may have to log in again. You may have to, too."
        msgstr "Cuando las bases de datos intercambian sus lugares, fallan las peticiones en curso, y puede que haya que volver a iniciar sesión. Usted también."

        msgid "Accounts, passwords, roles, API keys and logins are reverted too: anyone who has lost access since then gets it back."
        msgstr "También las cuentas, contraseñas, roles, claves de API y sesiones vuelven a ser como eran: quien perdió el acceso desde entonces lo tiene de nuevo."

        msgid "Devices that have later changes start over. They then upload what they hadn't uploaded yet."
        msgstr "Los dispositivos que conocen cambios posteriores empiezan de nuevo. Lo que aún no habían subido, lo suben entonces."

        msgid "Jobs that were running at that time continue."
        msgstr "Las tareas que entonces estaban en curso continúan."

        msgid "Restore the backup"
        msgstr "Restaurar la copia de seguridad"

        msgid "Bring the database back"
        msgstr "Recuperar la base de datos"

        # Packages/Server/AdminPanel/Templates/role.mustache

        msgid "Who has it"
        msgstr "Quién lo tiene"

        msgid "Rename it"
        msgstr "Cambiar su nombre"

        msgid "Letters, digits, - and _. People who have the role keep it, and open invitations stay valid."
        msgstr "Letras, cifras, - y _. Quienes tienen el rol lo conservan, y las invitaciones abiertas siguen siendo válidas."

        msgid "Rename"
        msgstr "Cambiar nombre"

        msgid "Remove it"
        msgstr "Quitarlo"

        msgid "Its permissions are removed too, and open invitations to it are revoked."
        msgstr "También se quitan sus permisos y se revocan las invitaciones abiertas para él."

        msgid "Remove the role {{name}}"
        msgstr "Quitar el rol {{name}}"

        # Packages/Server/AdminPanel/Templates/role_new.mustache

        msgid "Nobody has a new role until it's given to them. Its permissions can be changed at any time."
        msgstr "Nadie tiene un rol nuevo hasta que se le otorga. Sus permisos se pueden cambiar en cualquier momento."

        msgid "Letters, digits, - and _; it begins with a letter."
        msgstr "Letras, cifras, - y _; empieza por una letra."

        msgid "It applies"
        msgstr "Se aplica"

        msgid "within one object, such as an event"
        msgstr "dentro de un objeto, como un evento"

        msgid "Boxes"
        msgstr "Casillas"

        msgid "C create, R read, U update, D delete. Anyone who may change objects may also read them."
        msgstr "C crear, R leer, U actualizar, D eliminar. Quien puede cambiar objetos también puede leerlos."

        msgid "Add the role"
        msgstr "Añadir el rol"

        # Packages/Server/AdminPanel/Templates/routes.mustache

        msgid "What a caller with a single role gets from this server, worked out from the routes and the current rules. Own only: for some objects, such as those of their events, their own, or published ones."
        msgstr "Lo que obtiene de este servidor quien tiene un solo rol, calculado a partir de las rutas y las reglas actuales. Solo propios: para algunos objetos, como los de sus eventos, los suyos o los publicados."

        # Packages/Server/AdminPanel/Templates/rows.mustache

        msgid "{{saved}} Not saved:"
        msgstr "{{saved}} No se guardó:"

        msgid "Filtered by: {{filters}}."
        msgstr "Filtrado por: {{filters}}."

        msgid "Each row is saved separately, unless somebody has changed it in the meantime."
        msgstr "Cada fila se guarda por separado, salvo que entretanto alguien la haya cambiado."

        msgid "Only the first {{maximum}} rows of the page are shown."
        msgstr "Solo se muestran las primeras {{maximum}} filas de la página."

        msgid "What you enter in the rows below them creates new objects; rows that you leave empty are ignored."
        msgstr "Lo que introduzca en las filas de debajo crea objetos nuevos; las filas que deje vacías se ignoran."

        msgid "To add rows here, show these columns first: {{missing}}."
        msgstr "Para añadir filas aquí, muestre primero estas columnas: {{missing}}."

        msgid "Save the rows"
        msgstr "Guardar las filas"

        msgid "There is nothing to edit. <1>Back to the list</1>"
        msgstr "No hay nada que editar. <1>Volver a la lista</1>"

        # Packages/Server/AdminPanel/Templates/rows_table.mustache

        msgid "Current value: {{.}}"
        msgstr "Valor actual: {{.}}"

        # Packages/Server/AdminPanel/Templates/schedule.mustache

        msgid "What the servers do automatically, with the last run of each job in any process."
        msgstr "Lo que hacen los servidores automáticamente, con la última ejecución de cada tarea en cualquier proceso."

        msgid "Last run"
        msgstr "Última ejecución"

        msgid "Next run"
        msgstr "Próxima ejecución"

        msgid "Result"
        msgstr "Resultado"

        msgid "Run now<1> {{title}}</1>"
        msgstr "Ejecutar ahora<1> {{title}}</1>"

        # Packages/Server/AdminPanel/Templates/second_factor.mustache

        msgid "With a second factor, you also enter a code from an app on your phone when you log in or confirm your password. This applies to the panel and to this server's API. Devices that sync don't ask for a code."
        msgstr "Con un segundo factor, también introduce un código de una aplicación en su teléfono al iniciar sesión o confirmar su contraseña. Se aplica al panel y a la API de este servidor. Los dispositivos que se sincronizan no piden ningún código."

        msgid "Your account requires a second factor. Set it up to continue."
        msgstr "Su cuenta requiere un segundo factor. Configúrelo para continuar."

        msgid "<1>on</1> since {{exact}}"
        msgstr "<1>activado</1> desde {{exact}}"

        msgid "off"
        msgstr "desactivado"

        msgid "Create new ones."
        msgstr "Cree códigos nuevos."

        msgid "Create new recovery codes"
        msgstr "Crear nuevos códigos de recuperación"

        msgid "Turn it off"
        msgstr "Desactivarlo"

        # Packages/Server/AdminPanel/Templates/second_factor_set_up.mustache

        msgid "Scan this with an authenticator app, or type the secret into it."
        msgstr "Escanee esto con una aplicación de autenticación, o escriba en ella el secreto."

        msgid "QR code for the authenticator app"
        msgstr "Código QR para la aplicación de autenticación"

        msgid "Secret"
        msgstr "Secreto"

        msgid "Enter the code that the app shows"
        msgstr "Introduzca el código que muestra la aplicación"

        msgid "Confirm"
        msgstr "Confirmar"

        # Packages/Server/AdminPanel/Templates/setting.mustache

        msgid "Only an address that begins with https:// can be entered here: people who use the panel can't make the server run programs or write files. Programs, folders and the secret for an address are set where the server is started. An address with a secret in its path belongs there too, because database backups contain what is entered here."
        msgstr "Aquí solo se puede introducir una dirección que empiece por https://: quienes usan el panel no pueden hacer que el servidor ejecute programas ni escriba archivos. Los programas, las carpetas y el secreto que exige una dirección se definen donde se inicia el servidor. Allí va también una dirección con un secreto en su ruta, porque las copias de seguridad de la base de datos contienen lo que se introduce aquí."

        msgid "Set where the server is started, so it can't be changed here."
        msgstr "Definido donde se inicia el servidor; no se puede cambiar aquí."

        msgid "Now: <1>{{hidden}}</1>"
        msgstr "Ahora: <1>{{hidden}}</1>"

        msgid "Without a value: {{fallback}}"
        msgstr "Sin valor: {{fallback}}"

        msgid "Use the default again"
        msgstr "Volver a usar el valor predeterminado"

        # Packages/Server/AdminPanel/Templates/settings.mustache

        msgid "The test mail wasn't accepted. {{message}}"
        msgstr "El correo de prueba no se aceptó. {{message}}"

        msgid "This server's configuration. Settings with a link can be changed here, and all admin servers of the database use the new value within a few seconds. Change the other variables where the server is started, such as in its unit file or its container, and restart it. <1>admin-server --help</1> lists the same variables."
        msgstr "Con qué configuración se ejecuta este servidor. Los ajustes con un enlace se pueden cambiar aquí, y todos los servidores de administración de la base de datos los aplican en unos segundos. Cambie las demás variables donde se inicia el servidor, por ejemplo en su archivo de unidad o en su contenedor, y reinícielo. <1>admin-server --help</1> muestra las mismas variables."

        msgid "Listens on"
        msgstr "Escucha en"

        msgid "Database"
        msgstr "Base de datos"

        msgid "version {{modelVersion}}"
        msgstr "versión {{modelVersion}}"

        msgid "Variable"
        msgstr "Variable"

        msgid "What it does"
        msgstr "Qué hace"

        msgid "set"
        msgstr "definida"

        msgid "not set ({{fallback}})"
        msgstr "sin definir ({{fallback}})"

        msgid "Set where the server is started."
        msgstr "Definido donde se inicia el servidor."

        msgid "Change<1> {{name}}</1>"
        msgstr "Cambiar<1> {{name}}</1>"

        msgid "Test mail"
        msgstr "Correo de prueba"

        msgid "Sends a mail to {{email}} and shows what the carrier answers."
        msgstr "Envía un correo a {{email}} y muestra lo que responde el servicio de correo."

        msgid "Send a test mail to my address"
        msgstr "Enviar un correo de prueba a mi dirección"

        msgid "There is nothing to test until <1>{{mailVariable}}</1> is set."
        msgstr "No hay nada que probar mientras <1>{{mailVariable}}</1> no esté definida."

        # Packages/Server/AdminPanel/Templates/sql.mustache

        msgid "Runs one read-only statement as the database user in <1>{{variable}}</1>, whose privileges decide what you see: the apps' rules don't apply here. It runs for {{seconds}} seconds at most, shows up to {{maximumRows}} rows, and any changes are rolled back. The server's log has every statement and who ran it."
        msgstr "Ejecuta una sentencia de solo lectura como el usuario de base de datos de <1>{{variable}}</1>, cuyos derechos deciden lo que usted ve: las reglas de las aplicaciones no se aplican aquí. Se ejecuta durante {{seconds}} segundos como máximo, muestra hasta {{maximumRows}} filas y cualquier cambio se revierte. El registro del servidor contiene cada sentencia y quién la ejecutó."

        msgid "Statement"
        msgstr "Sentencia"

        msgid "With JavaScript, Ctrl+Enter (⌘ and Enter on a Mac) runs it too."
        msgstr "Ctrl+Enter (⌘ y Enter en un Mac) también la ejecuta, con JavaScript."

        msgid "Run"
        msgstr "Ejecutar"

        msgid "NULL"
        msgstr "NULL"

        msgid "… cut"
        msgstr "… cortado"

        # Packages/Server/AdminPanel/Templates/trash.mustache

        msgid "Deleted objects, newest first, each with what was deleted along with it. They can be restored until they are deleted permanently."
        msgstr "Objetos eliminados, los más recientes primero, cada uno con lo que se eliminó a la vez. Se pueden restaurar hasta que se eliminen definitivamente."

        msgid "All classes"
        msgstr "Todas las clases"

        msgid "The trash of {{.}} is empty."
        msgstr "La papelera de {{.}} está vacía."

        msgid "The trash is empty."
        msgstr "La papelera está vacía."

        msgid "Including"
        msgstr "Incluye"

        msgid "Moved to trash"
        msgstr "Traslado a la papelera"

        msgid "never"
        msgstr "nunca"

        msgid "kept: {{.}}"
        msgstr "se conserva: {{.}}"

        msgid "Restore all of {{chosenTitle}}…"
        msgstr "Restaurar todo de {{chosenTitle}}…"

        msgid "Empty the trash of {{.}}…"
        msgstr "Vaciar la papelera de {{.}}…"

        msgid "Empty the trash…"
        msgstr "Vaciar la papelera…"

        # Packages/Server/AdminPanel/Templates/trash_confirm.mustache

        msgid "<1>This can't be undone.</1> It permanently deletes:"
        msgstr "<1>Esta acción no se puede deshacer.</1> Elimina definitivamente:"

        msgid "Not deleted"
        msgstr "Sin eliminar"

        # Packages/Server/AdminPanel/Templates/trash_emptying.mustache

        msgid "{{done}} of {{total}}"
        msgstr "{{done}} de {{total}}"

        msgid "Stop"
        msgstr "Detener"

        msgid "Back to the trash"
        msgstr "Volver a la papelera"

        # Packages/Server/AdminPanel/Templates/trash_group.mustache

        msgid "{{className}}, with {{.}}"
        msgstr "{{className}}, con {{.}}"

        msgid "Open what it belongs to"
        msgstr "Abrir el objeto al que pertenece"

        msgid "never automatically"
        msgstr "nunca automáticamente"

        msgid "Kept because"
        msgstr "Se conserva porque"

        msgid "View the live one"
        msgstr "Ver el objeto activo"

        msgid "New {{property}}"
        msgstr "Nuevo valor de {{property}}"

        msgid "Contents"
        msgstr "Contenido"

        # Packages/Server/AdminPanel/Templates/trash_purge.mustache

        msgid "Every hour, one of the admin servers permanently deletes what has been in the trash for as long as its class says."
        msgstr "Cada hora, uno de los servidores de administración elimina definitivamente lo que lleva en la papelera el tiempo que indica su clase."

        msgid "See what it would delete now"
        msgstr "Ver qué eliminaría ahora"

        msgid "Run it now"
        msgstr "Ejecutarla ahora"

        msgid "What it would delete now"
        msgstr "Qué eliminaría ahora"

        msgid "Nothing is due."
        msgstr "No hay nada pendiente."

        msgid "Group"
        msgstr "Grupo"

        msgid "Due"
        msgstr "Prevista"

        msgid "There are more: only the first are shown."
        msgstr "Hay más: solo se muestran los primeros."

        msgid "How long things stay"
        msgstr "Cuánto tiempo se conservan los objetos"

        msgid "Days"
        msgstr "Días"

        msgid "Other times can be set in the table <1>tombolo.trash_retention</1>."
        msgstr "Se pueden establecer otros plazos en la tabla <1>tombolo.trash_retention</1>."

        msgid "What it couldn't delete"
        msgstr "Lo que no se pudo eliminar"

        msgid "Nothing."
        msgstr "Nada."

        msgid "Blocked by"
        msgstr "Bloqueado por"

        msgid "Tried"
        msgstr "Intentos"

        msgid "Runs"
        msgstr "Ejecuciones"

        msgid "It hasn't run yet."
        msgstr "Todavía no se ha ejecutado."

        msgid "Ended"
        msgstr "Fin"

        msgid "Groups"
        msgstr "Grupos"

        msgid "Kept"
        msgstr "Conservados"

        msgid "Problem"
        msgstr "Problema"

        # Packages/Server/AdminPanel/Templates/view_as.mustache

        msgid "View the panel as somebody with a role, or another user, sees it. While you do, you can't change anything, every page says so, and what you view is logged. You can't view as somebody who may see more than you."
        msgstr "Vea el panel como lo ve alguien con un rol u otro usuario. Mientras tanto no puede cambiar nada, todas las páginas lo indican y lo que ve queda registrado. No puede ver el panel como alguien que puede ver más que usted."

        msgid "Within"
        msgstr "Dentro de"

        msgid "What the role is for, such as an event: its title or its id. Empty for none."
        msgstr "Aquello para lo que es el rol, como un evento: su título o su ID. Déjelo vacío si no hay nada."

        msgid "Or a user"
        msgstr "O un usuario"

        msgid "Their address or id. The page of an account has a button for it."
        msgstr "La dirección o el ID del usuario. La página de una cuenta tiene un botón para ello."

        # Packages/Server/AdminPanel/Templates/why.mustache

        msgid "What somebody may do with a class, by which role, and what would have to change for the rest. The answer comes from the rules in force."
        msgstr "Lo que alguien puede hacer con una clase, por qué rol, y qué tendría que cambiar para lo demás. La respuesta procede de las reglas vigentes."

        msgid "An e-mail address or an id. Leave it empty to ask about the role alone."
        msgstr "Una dirección de correo electrónico o un ID. Déjelo vacío para preguntar solo por el rol."

        msgid "The id of one object. Leave it empty to ask about the class in general."
        msgstr "El ID de un objeto. Déjelo vacío para preguntar por la clase en general."

        msgid "Explain"
        msgstr "Explicar"

        msgid "Verdict"
        msgstr "Veredicto"

        msgid "Which objects"
        msgstr "Qué objetos"

        msgid "What decides"
        msgstr "Qué decide"

        msgid "because of {{.}}"
        msgstr "motivo: {{.}}"

        msgid "The rule<1> for {{operation}}</1>"
        msgstr "La regla<1> para {{operation}}</1>"

        msgid "It would need"
        msgstr "Haría falta"

        msgid "Properties that stay hidden: {{.}}."
        msgstr "Propiedades que permanecen ocultas: {{.}}."

        msgid "Properties that can't be changed: {{.}}."
        msgstr "Propiedades que no se pueden cambiar: {{.}}."

        msgid "Permissions without a role: {{.}}."
        msgstr "Permisos sin un rol: {{.}}."

        msgid "Roles in the rules, in the order in which they are tried"
        msgstr "Roles de las reglas, en el orden en que se prueban"

        # Packages/Server/AdminPanel/Assets/panel.js

        msgctxt "script"
        msgid "Copy"
        msgstr "Copiar"

        msgctxt "script"
        msgid "Copied"
        msgstr "Copiado"

        msgctxt "script"
        msgid "Format {0}"
        msgstr "Dar formato a {0}"

        msgctxt "script"
        msgid "Bold"
        msgstr "Negrita"

        msgctxt "script"
        msgid "Italic"
        msgstr "Cursiva"

        msgctxt "script"
        msgid "Heading"
        msgstr "Encabezado"

        msgctxt "script"
        msgid "Link"
        msgstr "Enlace"

        msgctxt "script"
        msgid "List"
        msgstr "Lista"

        msgctxt "script"
        msgid "Quote"
        msgstr "Cita"

        msgctxt "script"
        msgid "Code"
        msgstr "Código"

        msgctxt "script"
        msgid "Preview of {0}"
        msgstr "Vista previa de {0}"

        msgctxt "script"
        msgid "The preview can't be shown at the moment."
        msgstr "La vista previa no se puede mostrar en este momento."

        msgctxt "script"
        msgid "The text is too long to be formatted."
        msgstr "El texto es demasiado largo para darle formato."

        msgctxt "script"
        msgid "The text is empty."
        msgstr "El texto está vacío."

        msgctxt "script"
        msgid "Preview"
        msgstr "Vista previa"

        msgctxt "script"
        msgid "Map for {0}"
        msgstr "Mapa de {0}"

        msgctxt "script"
        msgid "The map can't be shown at the moment."
        msgstr "El mapa no se puede mostrar en este momento."

        msgctxt "script"
        msgid "Zoom in"
        msgstr "Acercar"

        msgctxt "script"
        msgid "Zoom out"
        msgstr "Alejar"

        msgctxt "script"
        msgid "North"
        msgstr "Norte"

        msgctxt "script"
        msgid "South"
        msgstr "Sur"

        msgctxt "script"
        msgid "West"
        msgstr "Oeste"

        msgctxt "script"
        msgid "East"
        msgstr "Este"

        msgctxt "script"
        msgid "The data on this page has changed."
        msgstr "Los datos de esta página han cambiado."

        msgctxt "script"
        msgid "Reload"
        msgstr "Volver a cargar"

        msgctxt "script"
        msgid "Your session has ended."
        msgstr "Su sesión ha terminado."

        msgctxt "script"
        msgid "Log in again"
        msgstr "Volver a iniciar sesión"

        msgctxt "script"
        msgid "You entered your password or a code in another window."
        msgstr "Introdujo su contraseña o un código en otra ventana."

        msgctxt "script"
        msgid "{0} ticked"
        msgstr "Marcados: {0}"

        msgctxt "script"
        msgid "You have an unsaved draft of this form from {0}."
        msgstr "Tiene un borrador sin guardar de este formulario, del {0}."

        msgctxt "script"
        msgid "Restore the draft"
        msgstr "Restaurar el borrador"

        msgctxt "script"
        msgid "Discard"
        msgstr "Descartar"

        msgctxt "script"
        msgid "Switch the keys on"
        msgstr "Activar los atajos"

        msgctxt "script"
        msgid "Switch the keys off"
        msgstr "Desactivar los atajos"

        # Packages/Server/AdminService/Settings/AdminServer+Variables.swift

        msgid "Network"
        msgstr "Red"

        msgid "Mail"
        msgstr "Correo"

        msgid "Maps"
        msgstr "Mapas"

        msgid "Images"
        msgstr "Imágenes"

        msgid "Languages"
        msgstr "Idiomas"

        msgid "Monitoring"
        msgstr "Supervisión"

        msgid "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER has the rights of the role tombolo_admin: see docs/database-roles.md"
        msgstr "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER tiene los derechos del rol tombolo_admin: véase docs/database-roles.md"

        msgid "a separate database user that may only SELECT, for the panel's SQL page: see docs/database-roles.md"
        msgstr "un usuario propio de la base de datos para la página SQL, que solo puede hacer SELECT: véase docs/database-roles.md"

        msgid "no SQL page"
        msgstr "sin página SQL"

        msgid "a separate database user that acts as the owner of the tables, for changing models and rules in the panel: see docs/database-roles.md"
        msgstr "un usuario propio de la base de datos que actúa como propietario de las tablas, para cambiar modelos y reglas en el panel: véase docs/database-roles.md"

        msgid "they are changed with migration-tool"
        msgstr "se cambian con migration-tool"

        msgid "the address to listen on"
        msgstr "la dirección en la que escucha"

        msgid "the port to listen on, 0 for a free one"
        msgstr "el puerto en el que escucha; 0 para uno libre"

        msgid "the address of this server, such as https://admin.example.org: links in mails begin with it. With it and TOMBOLO_MAIL, users can reset forgotten passwords"
        msgstr "dónde se accede a este servidor, por ejemplo https://admin.example.org: los enlaces de los correos empiezan así. Junto con TOMBOLO_MAIL permite reemplazar contraseñas olvidadas"

        msgid "proxies in front of this server, such as 10.0.0.0/8, 2001:db8::7. X-Forwarded-For and Forwarded are trusted only from these; they must set one of the two, or speak the PROXY protocol"
        msgstr "proxies delante de este servidor, por ejemplo 10.0.0.0/8, 2001:db8::7. Solo de ellos se acepta X-Forwarded-For o Forwarded; deben enviar uno de los dos o hablar el protocolo PROXY"

        msgid "on: every connection from a trusted proxy begins with a PROXY protocol header, before TLS, and no other connection does"
        msgstr "on: cada conexión de un proxy de confianza empieza, antes de TLS, con una cabecera del protocolo PROXY, y ninguna otra"

        msgid "how many connections one address may have at a time"
        msgstr "conexiones simultáneas de una dirección"

        msgid "a PEM file for HTTPS: the certificate with its chain. It may be replaced while the server runs; SIGHUP reloads it at once"
        msgstr "un archivo PEM para HTTPS: el certificado con su cadena. Puede reemplazarse con el servidor en marcha; SIGHUP lo lee de inmediato"

        msgid "none: HTTP"
        msgstr "ninguno: HTTP"

        msgid "a PEM file with the certificate's key, replaced in the same way"
        msgstr "un archivo PEM con la clave del certificado, que se reemplaza igual"

        msgid "the key for access tokens, the same on all servers, at least 32 bytes. Generate one with: openssl rand -hex 32"
        msgstr "la clave de los tokens de acceso, la misma en todos los servidores, de al menos 32 bytes. Para crear una: openssl rand -hex 32"

        msgid "who needs a second factor: optional, users who have set one up; everywhere, also users with a role that applies everywhere, who must set one up; everybody, all users"
        msgstr "a quién se le pide un segundo factor: optional, a quienes hayan configurado uno; everywhere, también a todos los que tengan un rol válido en todas partes, que deben configurar uno; everybody, a todos"

        msgid "a sorted file of SHA-1 hashes of passwords to refuse"
        msgstr "un archivo ordenado de hashes SHA-1 de contraseñas que se rechazan"

        msgid "only very common passwords are refused"
        msgstr "solo se rechazan contraseñas muy comunes"

        msgid "how to send mail: folder:/path, https://… or command:/usr/sbin/sendmail -t -i"
        msgstr "quién envía los correos: folder:/path, https://… o command:/usr/sbin/sendmail -t -i"

        msgid "none: the person who invites somebody gets the link to pass on"
        msgstr "nadie: quien invita recibe el enlace para entregarlo"

        msgid "sent as a bearer token with each mail to an https:// address"
        msgstr "se envía como token Bearer con cada correo a una dirección https://"

        msgid "where the links in invitations lead; the token is added as token="
        msgstr "adónde llevan los enlaces de las invitaciones; el token se añade como token="

        msgid "TOMBOLO_ADMIN_URL's panel"
        msgstr "el panel de TOMBOLO_ADMIN_URL"

        msgid "where the panel gets its map tiles, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png. That server learns who looks at which place"
        msgstr "de dónde vienen los mapas del panel, por ejemplo https://tile.openstreetmap.org/{z}/{x}/{y}.png; ese servidor sabe quién mira qué lugar"

        msgid "places are shown as text and a link"
        msgstr "los lugares aparecen en palabras, con un enlace"

        msgid "the credit below a map"
        msgstr "lo que hay debajo de un mapa"

        msgid "© OpenStreetMap contributors"
        msgstr "© colaboradores de OpenStreetMap"

        msgid "the absolute path of libvips's vipsthumbnail, which makes image thumbnails in a separate process; off for none"
        msgstr "la ruta absoluta de vipsthumbnail, de libvips, que hace miniaturas en un proceso aparte; off para ninguna"

        msgid "the one on the PATH, if there is one"
        msgstr "el del PATH, si lo hay"

        msgid "a folder with files such as de.po: more languages for the panel and mails, and names of classes and properties. See docs/translations.md"
        msgstr "una carpeta con archivos como de.po: más idiomas del panel y de los correos, y nombres de clases y propiedades; véase docs/translations.md"

        msgid "the languages that come with the panel"
        msgstr "los idiomas que trae el panel"

        msgid "a folder that the server's user owns, mode 0700, for backups in the panel. Needs pg_dump on the PATH: see docs/backups.md"
        msgstr "una carpeta del usuario del servidor, con modo 0700, para las copias de seguridad del panel. Necesita pg_dump en el PATH: véase docs/backups.md"

        msgid "none are made"
        msgstr "no se hacen"

        msgid "postgresql://… with a user who may read the whole database"
        msgstr "postgresql://… de un usuario que puede leer toda la base de datos"

        msgid "hours between automatic backups, 0 for none"
        msgstr "horas entre copias de seguridad automáticas; 0 para ninguna"

        msgid "how many automatic backups to keep"
        msgstr "cuántas copias de seguridad automáticas se conservan"

        msgid "postgresql://…/postgres with a user who may create and rename databases, to restore backups in the panel. Needs pg_restore on the PATH: see docs/backups.md"
        msgstr "postgresql://…/postgres de un usuario que puede crear y renombrar bases de datos, para restaurar aquí copias de seguridad. Requiere pg_restore en el PATH: véase docs/backups.md"

        msgid "they are restored on the command line"
        msgstr "se restauran en la línea de comandos"

        msgid "trace, debug, info, notice, warning, error or critical"
        msgstr "trace, debug, info, notice, warning, error o critical"

        msgid "info"
        msgstr "info"

        msgid "how many days to keep requests in the database for the panel, the same on all admin servers; 0 keeps only the latest, in memory"
        msgstr "días que las solicitudes se conservan en la base de datos para el panel, los mismos en todos los servidores de administración; 0 para conservar solo las últimas, en memoria"

        msgid "serve GET /metrics for Prometheus on this port, without a token; 0 for a free one"
        msgstr "servir GET /metrics para Prometheus en este puerto, sin token; 0 toma uno libre"

        msgid "no metrics"
        msgstr "sin métricas"

        msgid "the address to serve metrics on; only the operator's network may reach it"
        msgstr "la dirección para ello: solo la red del operador debe poder alcanzarla"

        """#
}
