"""Lines as they stand on screens of developers, administrators and private people: with secrets, and without one.

A secret stands in `⟦…⟧`; `¦` is left out, `\\n` is a line break. The values are made up.
"""

from __future__ import annotations

WITH_SECRETS = r"""
use ⟦482913⟧ to sign in to your account
Use ⟦482913⟧ as your login code for Contoso
⟦482913⟧ is the code for signing in
Enter ⟦6213⟧ to confirm your login.
Your code: ⟦771-204⟧
Your Uber code is ⟦7741⟧. Never share this code.
Type ⟦90412⟧ when the machine asks for a PIN
the door code is ⟦4471#⟧ and the bins are out back
the garage keypad code is ⟦4471#⟧
Door code ⟦2580⟧, second floor, ring twice
alarm: disarm with ⟦7719⟧ within 30 seconds
The combination of the safe is ⟦24-6-18⟧
My bike lock opens with ⟦0937⟧
gate ⟦4482*⟧ then buzz 12
Das Passwort lautet ⟦Lerche_Stein9⟧.
Das WLAN-Passwort ist ⟦sonnenblume77⟧, Netz heißt FRITZ!Box 7590
Passwort für den Router: ⟦admin4711⟧
Dein Bestätigungscode ist ⟦381920⟧
⟦381920⟧ ist dein Bestätigungscode für Kleinanzeigen
Ihr TAN lautet: ⟦552918⟧
Ihr Freischaltcode lautet ⟦XK4P9Z⟧ und ist 10 Minuten gültig.
Gib ⟦4410⟧ als PIN ein
Die PIN der Karte ist ⟦8841⟧
Meine Geheimzahl: ⟦7731⟧
Türcode Hinterhof: ⟦1985E⟧
le mot de passe est ⟦Tournesol42⟧
Le code de la porte est le ⟦48A12⟧
Votre code de vérification est ⟦482917⟧
Votre code : ⟦482917⟧. Il expire dans 5 minutes
digicode ⟦A4821⟧ puis 2e étage
mon mdp c'est ⟦chaton-gris-88⟧
La contraseña es ⟦Girasol2024⟧
Tu código de verificación es ⟦204918⟧
⟦204918⟧ es tu código de WhatsApp
clave del wifi: ⟦casarural21⟧
El PIN de la tarjeta es ⟦3319⟧
la password è ⟦Girasole88⟧
Il codice è ⟦771204⟧, scade tra 5 minuti
Il tuo codice di verifica è ⟦771204⟧
PIN del bancomat: ⟦20481⟧
a senha é ⟦Abacaxi7⟧
O seu código é ⟦441902⟧
het wachtwoord is ⟦Fietsbel12⟧
De code van de deur is ⟦4419⟧
Je inlogcode is ⟦902117⟧
lösenordet är ⟦Kanelbulle9⟧
Din engångskod är ⟦662019⟧
hasło to ⟦Zielony_Kot7⟧
Twój kod weryfikacyjny to ⟦118204⟧
пароль: ⟦Zima2024⟧
Ваш код подтверждения: ⟦4821⟧
Код для входа: ⟦48213⟧. Никому его не сообщайте
密码：⟦qwer1234⟧
您的验证码是⟦482913⟧，5分钟内有效
【微信】验证码 ⟦482913⟧
パスワードは⟦sakura2024⟧です
認証コードは ⟦482913⟧ です
비밀번호: ⟦namsan77⟧
인증번호 [⟦482913⟧]를 입력해 주세요
şifreniz: ⟦Karanfil34⟧
login: mara / ⟦Kestrel44⟧
login: mara password: ⟦Kestrel44⟧
login mara password ⟦Kestrel44⟧
user: mara pass: ⟦Kestrel44⟧
username admin password ⟦cisco123!⟧
creds: root:⟦toor99⟧
credentials are demo@example.com / ⟦Demo!2024⟧
sign in with demo@example.com and ⟦Demo!2024⟧
log in as admin with ⟦Sup3rSecret⟧
log in as admin / ⟦Sup3rSecret⟧
the admin account is admin/⟦Sup3rSecret⟧
user is bob, pw is ⟦hunter2go⟧
pw ⟦hunter2go⟧ for the zip
zip password ⟦rosebud99⟧
password for the zip is ⟦rosebud99⟧
the password to the shared drive: ⟦rosebud99⟧
new password = ⟦Heron!7⟧
I changed the root password to ⟦Heron!7Lake⟧ this morning
set the password to ⟦Heron7Lake⟧
reset it to ⟦Heron7Lake⟧, password expires in 90 days
pass phrase of the key is "⟦green tea at noon⟧"
my password used to be ⟦Heron7Lake⟧
the passcode on my phone is ⟦112908⟧
PIN: ⟦1234⟧
PIN=⟦1234⟧
pin code ⟦1234⟧
my card pin is ⟦4821⟧ ok?
CVV ⟦123⟧
cvv2: ⟦991⟧ exp 11/28
card ⟦4111 1111 1111 1111⟧ cvc ⟦737⟧
Kontonummer ⟦1234567890⟧ BLZ 37040044
BSB 062-000 Account Number: ⟦12345678⟧
Compte bancaire : ⟦30004 00823 00001234567 43⟧
cuenta bancaria ⟦2100 0418 45 0200051332⟧
TOTP secret: ⟦JBSWY3DPEHPK3PXP⟧
2FA seed ⟦JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP⟧
Enter this code manually: ⟦jbsw y3dp ehpk 3pxp⟧
otpauth://totp/ACME:bob?secret=⟦JBSWY3DPEHPK3PXP⟧&issuer=ACME
Backup codes:\n⟦8f3k-29sd⟧\n⟦k3j2-x93m⟧\n⟦p2m4-n5v6⟧\n
Recovery codes\n1. ⟦1234-5678⟧\n2. ⟦9012-3456⟧\n3. ⟦7890-1234⟧\n
Save these backup codes:\n⟦83920184⟧  ⟦28491022⟧\n⟦10293847⟧  ⟦56473829⟧\n
Scratch codes: ⟦18273645⟧ ⟦91827364⟧ ⟦55463728⟧
Your recovery codes are ⟦a1b2c-3d4e5⟧, ⟦f6g7h-8i9j0⟧ and ⟦k1l2m-3n4o5⟧
Wiederherstellungscodes:\n⟦4k2m-99xp⟧\n⟦77ab-3kfm⟧\n
Authorization: Basic ⟦YWRtaW46c2VjcmV0MTIz⟧
Proxy-Authorization: Basic ⟦YWRtaW46c2VjcmV0MTIz⟧
authorization: Bearer ⟦abcDEF123456ghiJKL⟧
-H 'X-Auth-Key: ⟦c2547eb745079dac9320b638f5e225cf483cc5cfdda41⟧'
x-api-key: ⟦da2-abcdefghij1234567890klmnop⟧
X-Vault-Token: ⟦s.abcdefGHIJ1234567890klmn⟧
Cookie: session=⟦eyJ¦hbGciOi12345abcdefgh⟧; theme=dark
Set-Cookie: PHPSESSID=⟦9f8a7b6c5d4e3f2a1b0c9d8e7f⟧; path=/; HttpOnly
Cookie: JSESSIONID=⟦A1B2C3D4E5F60718293A4B5C6D7E8F90⟧
sessionid=⟦k3j4h5g6f7d8s9a0q1w2e3r4t5y6u7i8⟧
https://example.com/reset?token=⟦8f3kd92ks01mx⟧&u=4
https://example.com/invite?code=⟦Xk29fLq83mZp01Aa⟧
https://example.com/login?user=bob&password=⟦Kestrel44⟧
https://api.example.com/v1/data?api_key=⟦9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c⟧&q=x
https://acct.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sig=⟦Zk3mPq9vL2xR8tYw5nB1cD4eF6gH7jK0aS9dF8gH7jK%3D⟧&se=2024-01-01
https:¦//user:⟦p4ss!word⟧@git.example.com/repo.git
jdbc:postgresql://db:5432/app?user=app&password=⟦s3cr3tPw⟧
jdbc:oracle:thin:scott/⟦tiger99⟧@//db:1521/orcl
jdbc:sqlserver://db:1433;databaseName=app;user=sa;password=⟦Str0ng!Pw⟧;encrypt=true
Server=db;Database=app;User Id=sa;Password=⟦Str0ng!Pw⟧;TrustServerCertificate=True
Driver={ODBC Driver 17};Server=db;UID=sa;PWD=⟦Str0ngPw⟧
redis:¦//:⟦s3cr3tPw⟧@cache:6379/0
amqp:¦//guest:⟦guest99⟧@mq:5672/
mongodb:¦//admin:⟦Kestrel44⟧@m1,m2/admin
smtp:¦//mailer%40example.com:⟦Kestrel44⟧@smtp.example.com:587
mysql2:¦//root:⟦Kestrel44⟧@db/app
postgres:¦//app:⟦correcthorse⟧@db/app
ftp:¦//anonymous:⟦Kestrel44⟧@ftp.example.com
ldap bind dn cn=admin,dc=example password ⟦Kestrel44⟧
bindpw ⟦Kestrel44⟧
bind_password: ⟦Kestrel44⟧
requirepass ⟦foobared99⟧
masterauth ⟦foobared99⟧
spring.datasource.password=⟦changeit1⟧
spring.mail.password=⟦fluffy bunny⟧
  password: ⟦fluffybunny⟧
  password: "⟦fluffy bunny⟧"
db_pass: ⟦fluffybunny⟧
DB_PASS=⟦fluffybunny⟧
MYSQL_PWD=⟦fluffybunny⟧
export PGPASSWORD='⟦fluffybunny⟧'
$env:DB_PASSWORD = "⟦fluffybunny⟧"
set DB_PASSWORD=⟦fluffybunny⟧
setx API_TOKEN ⟦9f8a7b6c5d4e3f2a1b0c⟧
ENV ADMIN_PASSWORD ⟦fluffybunny⟧
ENV SECRET_KEY=⟦fluffybunny123⟧
ARG NPM_TOKEN=⟦9f8a7b6c-5d4e-3f2a-1b0c-9d8e7f6a5b4c⟧
{"password":"⟦fluffybunny⟧","user":"bob"}
{'user': 'bob', 'password': '⟦fluffybunny⟧'}
"clientSecret": "⟦GOC¦SPX-abcdefghijklmnopqrstuvwxyz12⟧",
<password>⟦fluffybunny⟧</password>
<property name="password" value="⟦fluffybunny⟧"/>
<Password type="text">⟦fluffybunny⟧</Password>
<input type="password" name="pw" value="⟦fluffybunny⟧">
<add key="ApiKey" value="⟦9f8a7b6c5d4e3f2a1b0c⟧"/>
password = "⟦fluffybunny⟧"
variable "db_password" {\n  default = "⟦fluffybunny⟧"\n}
master_password   = "⟦fluffybunny⟧"
"Password": {"Value": "⟦fluffybunny⟧"}
admin_password => '⟦fluffybunny⟧'
define('DB_PASSWORD', '⟦fluffybunny⟧');
$cfg['Servers'][$i]['password'] = '⟦fluffybunny⟧';
$password = '⟦fluffybunny⟧';
const password = "⟦fluffybunny⟧";
String password = "⟦fluffybunny⟧";
password := "⟦fluffybunny⟧"
auth=("bob", "⟦fluffybunny9⟧")
requests.get(url, auth=('bob', '⟦fluffybunny9⟧'))
conn = psycopg2.connect(host="db", user="app", password="⟦fluffybunny⟧")
ConvertTo-SecureString "⟦Pewter_Lake1⟧" -AsPlainText -Force
ConvertTo-SecureString -String '⟦Pewter_Lake1⟧' -AsPlainText -Force
New-Object PSCredential("bob", (ConvertTo-SecureString "⟦Pewter_Lake1⟧" -AsPlainText -Force))
net use Z: \\srv\share /user:bob ⟦Kestrel44⟧
net use \\srv\share ⟦Kestrel44⟧ /user:bob
cmdkey /add:srv /user:bob /pass:⟦Kestrel44⟧
psexec \\srv -u bob -p ⟦Kestrel44⟧ cmd
plink -ssh bob@srv -pw ⟦Kestrel44⟧
pscp -pw ⟦Kestrel44⟧ file bob@srv:
winscp.com /command "open sftp:¦//bob:⟦Kestrel44⟧@srv/"
restic --password-command 'echo ⟦fern-Anvil-2⟧'
snmpwalk -v3 -u monitor -A ⟦authZinc55⟧ -X ⟦privTin66⟧ 10.4.0.9
snmpget -v2c -c ⟦pr1vateRO⟧ 10.0.0.1 sysName.0
mysql -uroot -p⟦Kestrel44⟧
mysqldump --password=⟦Kestrel44⟧ app
mysql --user=root --password ⟦Kestrel44⟧
redis-cli -h cache -a ⟦Kestrel44⟧ ping
mongo -u admin -p ⟦Kestrel44⟧ --authenticationDatabase admin
sshpass -p ⟦Kestrel44⟧ ssh bob@srv
curl -u bob:⟦Kestrel44⟧ https://x
curl --user 'bob:⟦Kestrel44⟧' https://x
wget --http-user=bob --http-password=⟦Kestrel44⟧ https://x
docker login -u bob -p ⟦Kestrel44⟧ registry.example.com
echo ⟦Kestrel44⟧ | docker login -u bob --password-stdin
echo ⟦Kestrel44⟧ | sudo -S apt update
echo "bob:⟦Kestrel44⟧" | chpasswd
useradd -p '⟦$6$saltsalt$⟨w86⟩⟧' bob
openssl enc -aes-256-cbc -k ⟦Kestrel44⟧ -in a
openssl pkcs12 -export -passout pass:⟦Kestrel44⟧
gpg --batch --passphrase ⟦Kestrel44⟧ -d f.gpg
7z a -p⟦Kestrel44⟧ out.7z dir
unzip -P ⟦Kestrel44⟧ a.zip
keytool -storepass ⟦changeit99⟧ -list
az storage blob list --account-key ⟦⟨B86⟩==⟧
aws configure set aws_secret_access_key ⟦wJa¦lrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧
xfreerdp /u:bob /p:⟦Kestrel44⟧ /v:srv
nmcli dev wifi connect Birch password ⟦espresso4two⟧
wpa_passphrase Birch ⟦espresso4two⟧
iwctl --passphrase ⟦espresso4two⟧ station wlan0 connect Birch
lftp -u bob,⟦Kestrel44⟧ ftp.example.com
ncftpput -u bob -p ⟦Kestrel44⟧ host / f
mount -t cifs //srv/s /mnt -o username=bob,password=⟦Kestrel44⟧
rclone config create x webdav pass ⟦Kestrel44⟧
imapsync --user1 a --password1 ⟦Kestrel44⟧ --user2 b --password2 ⟦Walrus55⟧
sqlplus scott/⟦tiger99⟧@orcl
impdp system/⟦manager9⟧ DUMPFILE=x
bcp t out f -U sa -P ⟦Kestrel44⟧
influx -username admin -password ⟦Kestrel44⟧
nats pub --user bob --password ⟦Kestrel44⟧ x y
helm upgrade app . --set auth.password=⟦Kestrel44⟧
helm install x --set postgresql.auth.postgresPassword=⟦Kestrel44⟧,image.tag=2
kubectl create secret docker-registry r --docker-password=⟦Kestrel44⟧
kubectl create secret generic x --from-literal=token=⟦Kestrel44⟧
terraform apply -var db_password=⟦Kestrel44⟧
terraform apply -var="db_password=⟦Kestrel44⟧"
ansible-playbook site.yml -e ansible_become_pass=⟦Kestrel44⟧
ansible_ssh_pass=⟦Kestrel44⟧ ansible_user=root
virsh set-user-password vm root ⟦Kestrel44⟧
CREATE USER bob WITH PASSWORD '⟦Kestrel44⟧';
ALTER USER bob PASSWORD '⟦Kestrel44⟧';
ALTER USER 'bob'@'%' IDENTIFIED BY '⟦Kestrel44⟧';
CREATE LOGIN bob WITH PASSWORD = '⟦Kestrel44⟧';
INSERT INTO users (name, password) VALUES ('bob', '⟦Kestrel44⟧');
UPDATE users SET password='⟦Kestrel44⟧' WHERE id=3;
machine example.com login bob password ⟦Kestrel44⟧
machine example.com\n  login bob\n  password ⟦Kestrel44⟧\n
db.example.com:5432:app:bob:⟦Kestrel44⟧
bob:⟦$apr1$abcdefgh$0123456789abcdefghijk1⟧
bob:⟦$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234⟧
root:⟦$6$rounds=5000$saltsalt$abcdefghijklmnopqrstuvwxyz⟧:19000:0:99999:7:::
root:⟦$y$j9T$abcdefghijklmnop$abcdefghijklmnopqrstuvwxyz0123456789abcdefg⟧:19000:0:99999:7:::
network={\n  ssid="Birch"\n  psk="⟦espresso4two⟧"\n}
psk=⟦5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99⟧
[Interface]\nPrivateKey = ⟦⟨B43⟩=⟧\n[Peer]\nPublicKey = ⟨B43⟩=\nPresharedKey = ⟦⟨B43⟩=⟧\n
data:\n  password: ⟦aHVudGVyMmdv⟧\n  token: ⟦ZXlKaGJHY2lPaUpTVXpJMU5pSXNJbXRwWkNJ⟧\n
AccountKey=⟦⟨B86⟩==⟧;EndpointSuffix=core.windows.net
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦Zk3mPq9vL2xR8tYw5nB1cD4eF6gH7jK0aS9dF8gH7jK=⟧
enable secret 5 ⟦$1$mERr$hx5rVt7rPNoS4wqbXKX7m0⟧
username admin privilege 15 secret ⟦Kestrel44⟧
username admin privilege 15 password 7 ⟦0822455D0A16⟧
snmp-server community ⟦pr1vateRW⟧ RW
set system root-authentication plain-text-password-value "⟦Kestrel44⟧"
pre-shared-key ⟦Kestrel44Walrus⟧
crypto isakmp key ⟦Kestrel44⟧ address 1.2.3.4
wpa-psk ascii ⟦espresso4two⟧
sk_live key ⟦sk_¦live_4eC39HqLyjWDarjtT1zdp7dc⟧
the token ⟦3f7a9c1e5b8d2046a7c9e1f3b5d7092846acef01⟧ still works
Token: ⟦3f7a9c1e5b8d2046a7c9e1f3b5d7092846acef01⟧
api key ⟦3f7a9c1e5b8d2046a7c9e1f3b5d70928⟧
API-Schlüssel: ⟦3f7a9c1e5b8d2046a7c9e1f3b5d70928⟧
Clé API : ⟦3f7a9c1e5b8d2046a7c9e1f3b5d70928⟧
Lizenzschlüssel: ⟦XXQ4M-8KTRD-2PLWB-7HCNV-9FJGZ⟧
Product key: ⟦W269N-WFGWX-YVC9B-4J6C9-T83GX⟧
BitLocker recovery key\n⟦123456-234567-345678-456789-567890-678901-789012-890123⟧\n
FileVault recovery key: ⟦ABCD-EF12-GH34-IJ56-KL78-MN90⟧
Emergency Kit Secret Key ⟦A3-AB12CD-EF34GH-56IJK-78LMN-90OPQ-12RST⟧
SSN: ⟦078-05-1120⟧
Social Security: ⟦078 05 1120⟧
Passport ⟦X1234567⟧ expires 2031
Steuernummer ⟦21/815/08150⟧
Personalausweis: ⟦L01X00T47⟧
DOB 1980-01-01, NHS ⟦943 476 5919⟧
Sozialversicherungsnummer ⟦65 170839 J 008⟧
CURP ⟦HEGG560427MVZRRL04⟧
NIE ⟦X1234567L⟧
CPF: ⟦529.982.247-25⟧
PESEL ⟦44051401359⟧
personnummer ⟦811228-9874⟧
numéro de sécu : ⟦1 85 05 78 006 084 91⟧
Enter PIN ⟦5512⟧ at the keypad
voicemail pin ⟦5512⟧
Meeting passcode: ⟦8Hk2pQ⟧
Passcode: ⟦482913⟧
Meeting ID: 842 1192 8831 Passcode: ⟦482913⟧
Conference PIN ⟦482913#⟧
Your temporary password is ⟦Xk4!pq⟧
Temporary password: ⟦Welcome1⟧
Initial password: ⟦Welcome1⟧
The default password is ⟦raspberry⟧
password is "⟦raspberry⟧"
password: ⟦raspberry⟧
password ist ⟦raspberry1⟧
Kennwort: ⟦Apfelbaum⟧
Losungswort: ⟦Apfelbaum⟧
Zugangsdaten: mueller / ⟦Apfel!Baum3⟧
Benutzer: mueller Passwort: ⟦Apfelbaum3⟧
identifiant : dupont mot de passe : ⟦pommier⟧
Usuario: perez Contraseña: ⟦manzano⟧
SMTP AUTH LOGIN ⟦a2VzdHJlbDQ0⟧
AUTH PLAIN ⟦AGJvYgBrZXN0cmVsNDQ=⟧
PASS ⟦Kestrel44⟧
a1 LOGIN bob ⟦Kestrel44⟧
230 USER bob\nPASS ⟦Kestrel44⟧\n
NickServ IDENTIFY ⟦Kestrel44⟧
/msg NickServ identify ⟦Kestrel44⟧
seed: ⟦abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about⟧
The user typed ⟦Kestrel!44⟧ into the password field
The user entered the one-time code ⟦482913⟧
The screen shows a PIN of ⟦4821⟧
The dialog shows the password "⟦swift lagoon⟧"
He copied the token ⟦9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c⟧ from the page
An e-mail with the code ⟦482913⟧ is open
The note says the wifi key is ⟦espresso4two⟧
Password changed from ⟦OldHeron7⟧ to ⟦NewHeron8⟧
bob@example.com:⟦Kestrel44⟧
bob@example.com | ⟦Kestrel44!⟧
admin:⟦Kestrel!44⟧
alice,alice@example.com,⟦Kestrel!44⟧
name,username,password,url\nmail,alice,⟦Kestrel44⟧,https://x\nbank,al,⟦Walrus55⟧,https://y\n
| user | password |\n|---|---|\n| bob | ⟦Kestrel44⟧ |\n| al | ⟦walrus⟧ |\n
user       password\nbob        ⟦Kestrel44⟧\nalice      ⟦Walrus55⟧\n
NAME   TOKEN                              AGE\nci     ⟦9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c⟧   3d\n
SECRET_KEY_BASE=⟦9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c⟧
APP_KEY=base64:⟦Zk3mPq9vL2xR8tYw5nB1cD4eF6gH7jK0aS9dF8gH7jK=⟧
ENCRYPTION_KEY=⟦0123456789abcdef0123456789abcdef⟧
JWT_SECRET=⟦mysupersecretjwt⟧
session_secret: ⟦keyboardcat⟧
secret: '⟦keyboard cat⟧'
COOKIE_SECRET=⟦thisisnotgood⟧
WEBHOOK_SECRET=⟦thisisnotgood⟧
client_secret=⟦thisisnotgood7⟧
AUTH_TOKEN=⟦letmein-please⟧
api_key = "⟦my-dev-api-key-7⟧"
account number ⟦12345678⟧ sort code 40-47-84
rootpw ⟦{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g0ZbT1⟧
Enter this code manually: ⟦jbsw y3dp ehpk 3pxp⟧
tom: and what was the wifi password again?\nlea: ⟦Tulip_bulb9⟧, the network is BirchCafe\n
Ola: jaki jest kod do bramy?\nEwa: ⟦27#4819⟧, drugie piętro\n
Joost: wat is het wachtwoord van de beamer?\nSanne: ⟦Tulpenbol_9⟧, gebruiker is zaal2\n
And what was the alarm PIN?\nIt is ⟦3180⟧. Please do not write it down.\n
$ pwgen -s 18 1\n⟦7kiWqQelwan7GmeY5R⟧\n$ ls\n
$ pass show work/backup\n⟦Heron-na-Dachu-31⟧\nlogin: olga\n$ ls\n
mara@wren:~$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n⟦MmMcqeNVvSUvinxp⟧\nmara@wren:~$ ls\n
Keep these backup codes. Each works once.\n⟦jno7k-p4a00⟧\n⟦yo3o9-379fa⟧\n⟦whmkp-ebgfn⟧\nLast sign-in: 24 November\n
the portal has moved, your login is s.haddad and the first password is\n⟦Welcome-Samir-418⟧, and that is all\n
Use ⟦093571⟧ to approve the payment of 1,249.00 EUR.
SMTP_PW=⟦gfga bdnb blqi qnfe⟧
curl -H "X-Api-Key: ⟦⟨h32⟩⟧""https://api.example.com/v2"
Schlüsselkasten Tor 4: ⟦7-1-3-9⟧
Alarm: press 1, then ⟦4471⟧ within 30 seconds.
password: ⟦Heron!7Lake⟧\nrepeat: ⟦Heron!7Lake⟧\n
log in with ⟦Kobalt-Fähre-12⟧ and pick a new one
Here's the security code you requested: ⟦482913⟧
Mot de passe Wi-Fi : ⟦soleil2024⟧
Your Amazon OTP is ⟦771204⟧. Do not share it with anyone.
Parcel locker pickup code: ⟦482913⟧
jdoe Password: ⟦Sunset!22⟧
"""

WITHOUT = r"""
password length 12 to 64 characters
The password must have at least 12 characters and one digit.
Your password expires in 14 days.
Forgot your password? Click here to reset it.
Password strength: weak
Password: required
Password policy: strong
password (min. 8 characters)
Change password every 90 days
Passwords do not match
The code is 482 lines long
error code is 4012, exit code 137
status code: 404
area code 415, zip code 94103
postal code: 75011
promo code SPRING25 gives 10 % off
Booking code LX7720, gate B14
QR code below
source code is in /usr/src/linux-6.1
Country code +49
The code 0x80070005 means access denied
HTTP code 200
use 8080 to log requests
key: value
key = "name"
primary key (id)
Press any key to continue
public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx0FJ7zQHq8x1y2z3 bob@host
max_tokens: 4096
token_type: bearer
tokens used: 12840
Token count: 4096
total tokens 128000
if password == "": raise ValueError("empty password")
password = input("Password: ")
password = getpass.getpass()
password = os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
password: {{ vault_db_password }}
password = var.db_password
password: str
password: str | None = None
def login(user: str, password: str) -> bool:
const [password, setPassword] = useState("");
this.password = password;
self.token = token
token = request.headers.get("Authorization")
secret = get_secret("db")
secretKeyRef:\n  name: db\n  key: password
valueFrom: {secretKeyRef: {name: app, key: token}}
passwordHash VARCHAR(255) NOT NULL
password VARCHAR(64)
<input type="password" placeholder="Password">
<label for="password">Password</label>
PASSWORD_MIN_LENGTH=12
TOKEN_TTL=3600
PASSWORD_RESET_URL=https://example.com/reset
spec_password.rb: test_wrong PASSED
commit 3f7a9c1e5b8d2046a7c9e1f3b5d7092846acef01
index 3f7a9c1e..9d8e7f6a 100644
sha256:3f7a9c1e5b8d2046a7c9e1f3b5d7092846acef013f7a9c1e5b8d2046a7c9e1f3
sha512-LGAYkeGmL/oqVPLle5e3n5mCaVwUl0CJ9nIRxirFrvGsM3oaXOUxJRqmgnuNeL40L6yg1YPdk01CQuwh+AUXwS==
"integrity": "sha512-LGAYkeGmL/oqVPLle5e3n5mCaVwUl0CJ9nIRxirFrvGsM3oaXOUxJRqmgnuNeL40L6yg1YPdk01CQuwh+AUXwS=="
SHA256:uNiVztksCsDhcc0u9e8BrXJXVGDnTfq2bmVtYVZGEI4 bob@host
ETag: W/"5f3a-1827ab39f12"
X-Request-Id: 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
uid 6fa459ea-ee8a-3ca4-894e-db77e160355e
https://www.youtube.com/watch?v=dQw4w9WgXcQ
https://docs.google.com/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUvWxYz0123456/edit
https://www.amazon.de/dp/B08N5WRWNW/ref=sr_1_3?keywords=lamp&qid=1699999999&sr=8-3
https://example.com/articles/how-to-choose-a-password-in-2024
https://www.figma.com/file/aBcDeFgHiJkLmNoPqRsTuV/Design
arn:aws:iam::123456789012:role/service-role/MyLambdaRole-1a2b3c4d
i-0abcd1234ef567890 subnet-0a1b2c3d4e5f67890 vpc-0fedcba9876543210
pod/api-7d9f8b6c5d-x2k4p 1/1 Running
css-1q2w3e4r-MuiButton-root jss123 sc-bdVaJa kXyZqR
main.8f3kd92k.chunk.js
_next/static/chunks/pages/index-4f5e6d7c8b9a0123.js
order 118-2239401-7719, tracking 1Z999AA10123456784
invoice INV-2024-000482 total 1,284.50 EUR
IMEI 490154203237518
serial number C02XK1ABCDEF
MAC 3c:22:fb:9a:10:7e
ISBN 978-3-16-148410-0
+1 (415) 555-0132, +49 30 5550 1234
2024-03-04T10:11:12.123Z
GET /api/v1/users/6fa459ea-ee8a-3ca4-894e-db77e160355e/tokens 200
The access code of ethics
Pin this message to the channel
pinned 3 messages
PIN 12 of the connector is ground
pins 3 and 5 are swapped
GPIO pin 17
The key is to keep calm.
The key takeaway: 3 teams, 40 people
The secret to good bread is time.
Keys: Ctrl+Shift+P opens the palette
Account number of employees: 1200
Account: mara.l
account balance 1,204.88 EUR
Account settings
Login: mara.l
Login successful for user mara from 10.0.0.4 port 51022
Accepted password for mara from 10.0.0.4 port 51022 ssh2
Failed password for invalid user admin from 203.0.113.9 port 40022 ssh2
Accepted publickey for mara: ED25519 SHA256:uNiVztksCsDhcc0u9e8BrXJXVGDnTfq2bmVtYVZGEI4
pam_unix(sshd:auth): authentication failure; logname= uid=0 user=root
The user opened the password settings and chose 24 characters.
The user clicked on Reset password; the page asks for a new one.
The dialog asks for a PIN, and the field is empty.
The window shows a password field with eight dots.
Das Passwort muss mindestens 8 Zeichen lang sein
Passwort vergessen? Neues Passwort anfordern
Passwort ändern
Mot de passe oublié ? Cliquez ici
Le mot de passe doit contenir 8 caractères
¿Olvidaste tu contraseña? Restablécela en 5 minutos
La contraseña debe tener 8 caracteres
Password dimenticata?
Esqueceu a senha?
Wachtwoord vergeten? Klik hier
密码长度至少为8位
忘记密码？
パスワードを忘れた方はこちら
The code review of PR 4821 is done
Code 39 and Code 128 are barcodes
Use Python 3.11 to sign packages
enter 42 to continue
Enter your 6-digit code
Enter 2 to confirm your order
The meeting is at 14:30 in room 2204
Extension 4821
Call 0800 123 4567 to confirm your booking
We sent a code to +1 415 555 0132
flight LH2418 seat 14C
Version 126.0.6478.127 (Official Build)
Windows 11 Pro 23H2 build 22631.3296
user id 1184420, group 42
ssh -i ~/.ssh/id_ed25519 bob@host
docker run -p 8080:80 nginx
mysql -h db -P 3306 -u root -p
tar -xzf a.tgz -C /opt
nmap -p 22,80,443 10.0.0.0/24
mkdir -p /srv/app
cp -p a b
curl -u "$USER:$PASS" https://x
curl -H "Authorization: Bearer $TOKEN" https://x
docker login -u bob --password-stdin
export PASSWORD=$(pass show db)
kubectl get secret db -o yaml
kubectl create secret generic db --from-file=./password.txt
vault kv get secret/app
git config credential.helper store
ssh-keygen -t ed25519 -C "bob@host"
gpg: key 3AA5C34371567BD2: public key imported
The pass rate is 98.2 %, 41 passed, 2 failed
5 passed in 3.21s
boarding pass 22F
password manager: KeePassXC 2.7.6
Login with Google
Sign in to continue to Gmail
Wi-Fi: Birch Cafe, 5 GHz, channel 36
SSID Birch Cafe security WPA2-PSK
ssid: Birch, security: WPA2/WPA3
Proxy-Authenticate: Basic realm="x"
WWW-Authenticate: Bearer error="invalid_token"
Cookie policy: we use 3 cookies
theme=dark; lang=en
Sort by: key, token, name
sort code
map.put("key", "value");
i18n.t("login.password.label")
com.example.auth.PasswordEncoderFactory$BCrypt
PasswordResetTokenRepository.java
PASS login.test.ts (4.211 s)
PASS src/components/Button.test.tsx
FAIL src/auth/token.test.ts
a1 OK LOGIN completed
Recovery codes: 8 left
Backup codes are used up. Generate new ones.
seed: 42
random seed 1337
seed=12345
salt and pepper
CVE-2024-3094 affects xz 5.6.0
rfc 6238 describes TOTP
RFC 4226 HOTP
Base64 alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/
the user: bob, role: admin, group: staff
username: bob
admin: yes
root: /srv/www
time: 12:30
host:8080
localhost:3000
2024: 118, 2023: 97
name: Bob / age: 42
login: 14 May 2024
user/group: bob/staff
and/or
TCP/IP, UDP/53
Access: 2024-03-04 10:11:12.000
access key: Alt+Shift+K
License: MIT
License key required
keyboard: de
Session: 45 minutes
Session ID: 217
auth: disabled
auth_method: none
Authentication: SSL/TLS
Encryption: WPA2
Security: STARTTLS
Security question: What was your first pet?
Security code on the back of the card
CVC: 3 digits on the back
PIN: 4 digits
Enter the PIN that you got by post
One-time code sent at 10:15
the card ending in 4242
Visa •••• 4242, expires 09/28
Kontonummer unbekannt
Account number ends in 881
Tax ID required
Passport photo 35 x 45 mm
ID number
National parks 2024
SIN(0.5) = 0.479
pan: 12, tilt: 4
nie: 3 x gesehen
insee 2021 population 67.4
Did you change the password?\nlea: yes, this morning\n
tom: where is the code for the login page?\nlea: in src/login/page_form.ts, line 48\n
what is the password policy?\nat least 12 characters\n
$ pass ls work\nwork\nprinter\n
$ cat password-rules.txt\nUse three words.\n
signing with key 0x64B3BD6F6CF961DF, passphrase from CI variable [MASKED]
pub   rsa4096/9F73849583B32915 2023-02-01 [SC]
vault login -method=userpass username=marta
-passin stdin -nokeys -out portal.crt
Use 5432 as the port
SELECT password FROM users WHERE id = 3
UPDATE users SET password = $1 WHERE id = $2
alarm: 07:30 every day
box 12 of 20
Your order code is 48A-221
"""
