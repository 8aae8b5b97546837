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
bitwarden: master password ⟦Ostrich-Lamp-88⟧
KeePassXC  Title: NAS  Username: admin  Password: ⟦dRq7!vLp2⟧  URL: https://nas.local
1Password Emergency Kit: Secret Key ⟦A3-⟨u6⟩-⟨u6⟩-⟨u5⟩-⟨u5⟩-⟨u5⟩-⟨u5⟩⟧
WPA2 Pre-Shared Key: ⟦blue.Kettle.99⟧
Wi-Fi Passphrase\n⟦otters-in-june⟧
Router admin password (printed on the label): ⟦7hQ2mzVb⟧
WPS PIN: ⟦12345670⟧
PPPoE password ⟦telekom_K4ffee⟧
AWS Secret Access Key: ⟦⟨B40⟩⟧
aws_session_token = ⟦⟨B80⟩⟧
export AWS_SECRET_ACCESS_KEY=⟦⟨B40⟩⟧
$env:ARM_CLIENT_SECRET="⟦⟨w3⟩8Q~⟨w34⟩⟧"
DefaultEndpointsProtocol=https;AccountName=foo;AccountKey=⟦⟨B86⟩==⟧;EndpointSuffix=core.windows.net
Server=tcp:db.example.net,1433;User ID=sa;Password=⟦Gr4nite!Loft⟧;Encrypt=True;
//packages.firm.example/:_authToken=⟦npm¦_⟨w36⟩⟧
//registry.example/:_password="⟦⟨w24⟩==⟧"
[pypi]\nusername = __token__\npassword = ⟦py¦pi-⟨b120⟩⟧
machine api.heroku.example login me@example.org password ⟦⟨h8⟩-⟨h4⟩-⟨h4⟩-⟨h4⟩-⟨h12⟩⟧
token: ⟦⟨w40⟩⟧
client-key-data: ⟦LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo⟨B60⟩⟧
output "db_password" = "⟦Qv8#pLs0wq⟧"
db_password = "⟦quiet-Otter-41⟧"
Your Google verification code is ⟦402918⟧. Do not share it.
<#> ⟦482 019⟧ is your Facebook confirmation code
Ihre mTAN fuer die Ueberweisung ueber 120,00 EUR lautet ⟦839201⟧
Der Bestätigungscode für Ihre Anmeldung: ⟦449102⟧
Votre code de sécurité à usage unique est le ⟦839 201⟧.
Su código de un solo uso es ⟦209 441⟧
Il codice OTP per autorizzare il pagamento è ⟦20984412⟧
Uw eenmalige code is ⟦553019⟧
Jednorazowy kod: ⟦884120⟧
Код для подтверждения: ⟦4471⟧
Doğrulama kodunuz: ⟦552193⟧
Seu código de verificação: ⟦330219⟧
Din kode er ⟦338120⟧. Del den ikke med nogen.
Kertakäyttökoodi: ⟦551920⟧
A belépési kódja: ⟦771230⟧
Váš ověřovací kód je ⟦221093⟧
您的验证码是 ⟦882013⟧，5分钟内有效
認証コード：⟦441920⟧
[Kakao] 인증번호 ⟦441920⟧
Online-Banking PIN: ⟦48213⟧
Telefonbanking-PIN ⟦52081⟧
Kontonummer: ⟦DE⟨d20⟩⟧
Sort code 20-41-18, account number ⟦43219876⟧
Routing number 021000021 Account number ⟦004412098⟧
private key (WIF): ⟦K⟨d1⟩xyzabcdefghiJKLMNPQRSTUVWXYZabcdefghijk1234567890a⟧
SSID: Home, Key: ⟦mango7River⟧
WIFI:T:WPA;S:Home Net;P:⟦mango7River⟧;;
DATABASE_URL=postgresql:¦//app:⟦p9Qz-Lm44⟧@db.internal:5432/app
mongodb+srv://app:⟦hush!Hush22⟧@cluster0.example.net/test
amqp:¦//guest:⟦R4bbit.hole⟧@mq:5672/
https://hooks.slack.com/services/T⟨u8⟩/B⟨u10⟩/⟦⟨w24⟩⟧
Product key: ⟦⟨u5⟩-⟨u5⟩-⟨u5⟩-⟨u5⟩-⟨u5⟩⟧
License key ⟦⟨H8⟩-⟨H8⟩-⟨H8⟩-⟨H8⟩⟧
Can't scan the code? Enter this key: ⟦jbsw y3dp ehpk 3pxp⟧
Setup key ⟦⟨t32⟩⟧
Backup codes\n⟦⟨d4⟩ ⟨d4⟩⟧\n⟦⟨d4⟩ ⟨d4⟩⟧\n⟦⟨d4⟩ ⟨d4⟩⟧
Save these recovery codes:\n1. ⟦⟨l5⟩-⟨l5⟩⟧\n2. ⟦⟨l5⟩-⟨l5⟩⟧
Card number: ⟦⟨card 4539 16⟩⟧ Expires 04/28 Security code ⟦318⟧
CVC/CVV ⟦417⟧
SSN: ⟦219-09-9999⟧
Passport No ⟦C01X00T47⟧
Steuer-ID: ⟦65 929 970 489⟧
Versichertennummer ⟦A123456780⟧
NHS number ⟦943 476 5919⟧
Driver's licence: ⟦MORGA657054SM9IJ⟧
Codice fiscale: ⟦RSSMRA85T10A562S⟧
NIE: ⟦X1234567L⟧
Aadhaar: ⟦4991 1866 5246⟧
PAN ⟦ABCPE1234F⟧
your temp password is ⟦Welcome2Fox!⟧ please change it
log in with user demo and password ⟦Zebra.Tile.4⟧
creds for staging: deploy / ⟦h4mster#Wheel⟧
username: jane password: ⟦trumpet99⟧
user=jane pass=⟦trumpet99⟧
u: jane p: ⟦trumpet99!⟧
The gate code changed, it's ⟦7713⟧ now
PIN für die Haustür: ⟦4471⟧, bitte nicht weitersagen
alarm code ⟦9921⟧ and then the green button
Zoom Meeting ID: 883 1120 4471 Passcode: ⟦4kQz9b⟧
Passcode: ⟦882190⟧
Teams meeting passcode: ⟦aB3xY9⟧
vpn preshared secret ⟦Kite-Fjord-92⟧
RADIUS shared secret: ⟦s3cr3tRad⟧
snmp-server community ⟦n3tw4tch⟧ RO
enable secret 5 ⟦$1$⟨w4⟩$⟨w22⟩⟧
username admin privilege 15 password 7 ⟦094F471A1A0A⟧
set system root-authentication plain-text-password ⟦Xylo!Phone3⟧
PrivateKey = ⟦⟨B43⟩=⟧
ansible_become_pass: ⟦walnut_Tree9⟧
vault_password: ⟦walnut_Tree9⟧
JWT_SECRET=⟦keep-this-very-private⟧
SECRET_KEY_BASE=⟦⟨h128⟩⟧
STRIPE_SECRET_KEY=⟦sk¦_live_⟨w24⟩⟧
TWILIO_AUTH_TOKEN=⟦⟨h32⟩⟧
SENDGRID_API_KEY=⟦S¦G.⟨b22⟩.⟨b43⟩⟧
OPENAI_API_KEY=⟦sk-¦proj-⟨b48⟩⟧
GITHUB_TOKEN: ⟦gh¦p_⟨w36⟩⟧
curl -H 'X-API-Key: ⟦⟨w32⟩⟧' https://api.example/v1/x
curl -H "PRIVATE-TOKEN: ⟦gl¦pat-⟨b20⟩⟧" https://gitlab.example/api/v4/projects
wget --http-user=me --http-password=⟦Pl4tform⟧ https://x.example/f
rclone config create b2 account=0021 key=⟦K002⟨w27⟩⟧
mount -t cifs //srv/share /mnt -o username=mara,password=⟦Hill4Goat⟧,vers=3.0
net user jane ⟦Winter2025!⟧ /add
Set-ADAccountPassword -NewPassword (ConvertTo-SecureString "⟦Autumn#2026⟧" -AsPlainText -Force)
ALTER USER app IDENTIFIED BY '⟦Plum9!pit⟧';
CREATE USER app WITH PASSWORD '⟦Plum9!pit⟧';
GRANT ALL ON x.* TO 'app'@'%' IDENTIFIED BY '⟦Plum9!pit⟧';
psql -c "ALTER ROLE app PASSWORD '⟦Plum9!pit⟧'"
<add key="ApiKey" value="⟦⟨w32⟩⟧" />
<password>⟦Plum9pit⟧</password>
spring.datasource.password=⟦Plum9pit⟧
"password": "⟦Plum9pit⟧",
'PASSWORD': '⟦Plum9pit⟧',
password => '⟦Plum9pit⟧',
--set auth.rootPassword=⟦Plum9pit⟧
Gift card code: ⟦X7QJ-2MPL-9KTD⟧ PIN: ⟦4471⟧
Recovery key: ⟦⟨u4⟩-⟨u4⟩-⟨u4⟩-⟨u4⟩-⟨u4⟩-⟨u4⟩⟧
BitLocker recovery key: ⟦⟨d6⟩-⟨d6⟩-⟨d6⟩-⟨d6⟩-⟨d6⟩-⟨d6⟩-⟨d6⟩-⟨d6⟩⟧
PUK: ⟦48219031⟧
hey the netflix login is fam@example.org and the pw ⟦Popcorn4all⟧
wifi is GuestNet, password ⟦summer-rain-22⟧
pwd: ⟦hunter2⟧
Passwort: ⟦Sommer2026⟧
Mot de passe : ⟦chaton.bleu⟧
Contraseña: ⟦girasol⟧
hasło: ⟦kotek123⟧
Bearer ⟦⟨b40⟩⟧
Cookie: session=⟦⟨b40⟩⟧; theme=dark
set-cookie: auth_token=⟦⟨b40⟩⟧; Path=/; HttpOnly
https://app.example/reset-password?token=⟦⟨h32⟩⟧
https://app.example/invite/⟦⟨b24⟩⟧
https:¦//user:⟦Plum9pit⟧@repo.example/x.git
Can you send me the door code? Sure: ⟦4471⟧
Anna: what's the wifi pw again?\nBen: ⟦tulip-Bulb9⟧
Anna: what's the wifi pw again?\nBen: I think it's ⟦tulip-Bulb9⟧
Anna: PIN for the garage?\nBen: ⟦8812⟧ 👍
Lena 14:02\nHast du das Passwort?\nTom 14:03\n⟦Apfel&Baum7⟧
The admin password for the printer is ⟦0000⟧ by default
pw for the archive: ⟦rotkehlchen⟧
zip password = ⟦invoice2026⟧
Das Passwort für die ZIP-Datei lautet: ⟦Q4-Bericht!⟧
Your temporary password: ⟦Xk29dlWq⟧
Temporary passcode ⟦991 204⟧ expires in 10 minutes
Username: admin\nPassword: ⟦admin⟧
login: root password: ⟦toor⟧
Default credentials: admin / ⟦admin123⟧
ssh pi@10.0.0.5 (password ⟦raspberry⟧)
ssh root@10.0.0.5 # pw ⟦Gr33n.house⟧
mysql -u root -p⟦Kr0kus⟧ shop
mysqldump -uroot -p'⟦Kr0kus⟧' shop > shop.sql
PGPASSWORD=⟦tulip99⟧ psql -h db -U app
redis-cli -a ⟦tulip99⟧ ping
docker run -e POSTGRES_PASSWORD=⟦tulip99⟧ postgres:16
docker login -u bot -p ⟦tulip99⟧ registry.example
kubectl create secret generic db --from-literal=password=⟦tulip99⟧
helm upgrade app . --set db.password=⟦tulip99⟧
az login --service-principal -u ⟨h8⟩ -p ⟦Qk~8Q~⟨w30⟩⟧ --tenant x
aws configure set aws_secret_access_key ⟦⟨B40⟩⟧
vault kv put secret/db password=⟦tulip99⟧
openssl enc -aes-256-cbc -k ⟦tulip99⟧ -in a -out b
gpg --batch --passphrase ⟦tulip99⟧ -d a.gpg
zip -P ⟦tulip99⟧ a.zip a
7z x -p⟦tulip99⟧ a.7z
unrar x -p⟦tulip99⟧ a.rar
smbclient //srv/x -U mara%⟦tulip99⟧
ldapsearch -x -D cn=admin -w ⟦tulip99⟧ -b dc=x
curl -u mara:⟦tulip99⟧ https://x.example
curl -d 'user=mara&password=⟦tulip99⟧' https://x.example/login
curl -d '{"user":"mara","password":"⟦tulip99⟧"}' https://x.example/login
http POST x.example/login user=mara password=⟦tulip99⟧
echo '⟦tulip99⟧' | sudo -S apt update
sshpass -p '⟦tulip99⟧' ssh root@x
plink -pw ⟦tulip99⟧ root@x
psexec \\\\srv -u adm -p ⟦tulip99⟧ cmd
net use Z: \\\\srv\\share ⟦tulip99⟧ /user:mara
wpa_passphrase Home ⟦tulipfield99⟧
nmcli dev wifi connect Home password ⟦tulipfield99⟧
iwconfig wlan0 key ⟦s:tulip⟧
htpasswd -b .htpasswd mara ⟦tulip99⟧
mara:⟦$apr1$⟨w8⟩$⟨w22⟩⟧
smtp_password: "⟦tulip 99 field⟧"
SMTP_PASSWORD='⟦tulip 99 field⟧'
mail.password=⟦tulip99⟧
<property name="password" value="⟦tulip99⟧"/>
<connectionString>Server=x;Uid=app;Pwd=⟦tulip99⟧;</connectionString>
jdbc:postgresql://db/app?user=app&password=⟦tulip99⟧
jdbc:oracle:thin:app/⟦tulip99⟧@db:1521/x
const password = "⟦tulip99⟧";
let apiKey = '⟦⟨w32⟩⟧'
api_key: str = "⟦⟨w32⟩⟧"
os.environ["API_TOKEN"] = "⟦⟨w32⟩⟧"
client = Client(token="⟦⟨w32⟩⟧")
auth=("mara", "⟦tulip99⟧")
requests.get(url, auth=('mara', '⟦tulip99⟧'))
headers = {"Authorization": "Bearer ⟦⟨w32⟩⟧"}
headers={'X-Auth-Token': '⟦⟨w32⟩⟧'}
token: "⟦⟨h8⟩-⟨h4⟩-⟨h4⟩-⟨h4⟩-⟨h12⟩⟧"
"private_key": "-----BEGIN PRIV¦ATE KEY-----\\n⟦MIIEvQ⟨B58⟩⟧\\n-----END PRIV¦ATE KEY-----\\n"
Your recovery phrase: ⟦witch⟧ ⟦collapse⟧ ⟦practice⟧ ⟦feed⟧ ⟦shame⟧ ⟦open⟧ ⟦despair⟧ ⟦creek⟧ ⟦road⟧ ⟦again⟧ ⟦ice⟧ ⟦least⟧
SWIFT transfer to ⟦GB82 WEST 1234 5698 7654 32⟧, reference 20418
IBAN: ⟦NL91ABNA0417164300⟧
Konto ⟦DE89370400440532013000⟧ BIC COBADEFFXXX
Amex ⟦3782 822463 10005⟧
Sozialversicherungsnummer: ⟦12 150885 M 042⟧
BSN ⟦111222333⟧
Personalausweis-Nr. ⟦L01X00T471⟧
n° de sécurité sociale ⟦1 85 05 78 006 084 91⟧
AHV ⟦756.9217.0769.85⟧
NINO: ⟦QQ 12 34 56 C⟧
SIN ⟦046 454 286⟧
身份证号：⟦11010519491231002X⟧
CURP: ⟦HEGG560427MVZRRL04⟧
Enter code ⟦7714⟧ at the gate, then turn left
Key safe by the back door, code ⟦C1985Y⟧
Lockbox ⟦4471⟧, key inside
Der Code für die Schranke ist ⟦4471⟧
Code der Haustür ⟦4471#⟧
Voicemail PIN is ⟦5508⟧
Your PIN: ⟦5508⟧
New PIN ⟦5508⟧ set
SIM PIN ⟦0412⟧ PUK ⟦48219031⟧
Ihr Einmalpasswort: ⟦448210⟧
Ihre TAN: ⟦448210⟧ für Auftrag 20418
⟦448210⟧ lautet Ihr Code
Steam Guard code: ⟦F7K2P⟧
Your Apple ID Code is: ⟦448210⟧. Don't share it with anyone.
G-⟦448210⟧ is your Google verification code.
Microsoft access code ⟦448210⟧
Signal verification: ⟦448-210⟧
Telegram code: ⟦44821⟧. Do not give this code to anyone
Discord security code is: ⟦448210⟧
PayPal: ⟦448210⟧ is your security code. Don't share it.
Amazon: Use ⟦448210⟧ to reset your password.
DHL: Abholcode ⟦448210⟧ für Packstation 112
Nintendo 2-step code ⟦448210⟧
Your sign-in code\n⟦448210⟧\nExpires in 10 minutes
Enter this code to verify your email address:\n⟦448 210⟧
Here is your code:\n\n⟦448210⟧\n\nIt is valid for 15 minutes.
Ihr Sicherheitscode:\n⟦448210⟧
Dein Anmeldecode ist:\n⟦448210⟧
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
Order number 4471-0092-118 shipped
Tracking number 1Z999AA10123456784
Tracking: 00340434292135100186
Invoice no. 2026-004417, customer no. 118824
Rechnungsnummer 4711-0815, Kundennummer 77120448
EAN 4006381333931
uuid 9d1f6a42-88c0-4d0e-b1f3-57a2c9e0d6b4
commit e29591d17167cad3c8e8da43173b4146dbec8305
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
Phone: +49 30 5550 1842
Tel. 030 5550184, Fax 030 5550185
MAC 3c:22:fb:7a:11:09 IP 10.66.4.9/24
inet6 fe80::3e22:fbff:fe7a:1109
Version 8.3.1+build.2290 (2026-09-02)
Price 1.299,00 EUR incl. 19 % VAT
Date 2026-11-25 20:58:34
Customer number: 118824-77
Kundennummer: 4410 772 913
Model GT-N8013ZWAXAR, part 5B20S42888
Lenovo ThinkPad X1 20XW0026GE serial PF3K9Z7T
https://www.example.org/path/page.html?id=442&lang=de
https://github.com/example/repo/commit/e29591d17167cad3c8e8da43173b4146dbec8305
IMG_20260914_081240_HDR.jpg
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM8AsND10mJN80gUiizX1ReDZIC1MSUi77WcR90xGwG9 ines@heath
PublicKey = DZ2Cw0FRPZFfhnBciDK0RojVMF/J3yjya+cqV/o0fD8=
recipient: age1bs7fqwjzscxl0klgl6rd97p13hkuuhdhyfsauvf3pmdwspm1we01jc53pb
Key fingerprint = 7D74 F9B0 9F8F 5D03 F4A4  A8A2 9C1D CAB1 1495 39A5
SHA256:ggUfmkWN/iPnx0xXf0r0SNqxk2HNnKf42J5mQm5i7sQ
Use code SAVE20 at checkout for 20 % off
Promo code: SPRING25
Postal code 10115 Berlin
PLZ 10115, Vorwahl 030
Area code 030, country code +49
Error code 0x80070057
exit code 137
HTTP status code 404
Status code: 503 Service Unavailable
Zip code: 94107
Booking code QX7KLM for flight LH441
Your booking reference is QX7KLM
Confirmation number 88213-4
Case 00418827 was updated
Ticket 55821 - cannot sign in
The password must have 12 characters
Password strength: strong
Forgot password?
Change your password every 90 days
password_reset_expires_at: 2026-11-25T20:58:34Z
token_usage: 1840271
Tokens used: 18,204 of 200,000
primary key: id
Primary key (id, tenant)
foreign key user_id references users(id)
secret santa party on 12 December
the key to success is hard work
the code is on GitHub
the code is 200 lines long
my code is broken since 2024
Source code: 1840 lines
unlock 3 more levels
pin the message to the top
PIN header 2x20
Two-factor authentication is enabled
Enter the 6-digit code
We sent a code to +49 170 ***122
Code expires in 10:00
Password: ********
Password: ••••••••
password: <your password>
api_key = config.get("api_key")
PASSWORD=$(cat /run/secrets/db)
if password is None: raise ValueError("password is missing")
def login(user: str, password: str) -> None:
passwd: password updated successfully
sudo: 1 incorrect password attempt
Failed password for root from 203.0.113.88 port 51402 ssh2
Accepted publickey for ines from 10.66.0.2
[sudo] password for ines:
Permission denied (publickey,password).
ssh-copy-id: INFO: 1 key(s) remain to be installed
Host key verification failed.
test_password_reset_sends_mail PASSED
12 passed, 3 failed in 4.21s
boarding pass: gate B14, seat 12A
Ski pass Monday 44 EUR
Pass rate: 98.2 %
mountain pass: 2,409 m
secrets/db.yaml
kubectl get secrets -n prod
keyboard layout: de-nodeadkeys
API keys (3)
Created token "ci-bot" 2 days ago
Key ID: AB12CD34EF56
kms key arn:aws:kms:eu-west-1:118824770042:key/9d1f6a42-88c0-4d0e-b1f3-57a2c9e0d6b4
ARN arn:aws:iam::118824770042:role/deploy-prod
instance i-0a1b2c3d4e5f67890 ami-0abcdef1234567890
Account ID: 1188-2477-0042
etag: W/"b2fd8ccce2c691857298f285a39f6526"
X-Request-Id: 7f3c2d1e-44aa-4b1c-9e0f-0d2b8a77c5e1
integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==
Room 4471, desk 2.118, extension 4471
Meeting ID: 883 1120 4471
bus line 482913 departs 12:40
USt-IdNr. DE811907980
VAT no. GB 123 4567 89
BIC COBADEFFXXX
Aktenzeichen 4 O 118/26
Flight LH 441 seat 14C
Train ICE 1042, coach 21, seat 71
License plate B-KQ 418
Seriennummer 4CE0460D0G
Firmware 5.7.1 build 20418
Docker image registry.example/app:1.2.3@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
node_modules/.pnpm/@babel+core@7.24.0/node_modules/@babel/core
main-5f7b9d8c6-mm4tz 1/1 Running 2 11d
data-testid="password-input" class="form-control mt-2"
<input type="password" name="password" id="password">
<label for="pwd">Password</label>
"scripts": {"token": "node scripts/token.js"}
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin
PWD=/home/ines OLDPWD=/srv
journalctl -u nginx -p err
docker run -u root -p 8080:80 nginx
sudo -u postgres psql -p 5432
mkdir -p build/out
ffmpeg -i in.mp4 -pass 1 -f null -
nmap -p 22,80,443 10.0.0.1
0x71C7656EC7ab88b098defB751B7401B5f6d8976F
bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq
latitude 41.2865 longitude 174.7762
Container TWLU 204181 7
SENTRY_DSN=https://92480926e817f2ae212952fede5770bf@o12.ingest.sentry.example/442
client-certificate-data: LS0tLS1CRUdJTi
IdentityFile ~/.ssh/id_ed25519
my number is +49 170 5550122 call me
AGE-SECRET-KEY-1⟨u10⟩
restic -r s3:x --password-command "cat /run/p"
Can you send me the door code?
The password is required
The password is incorrect, try again
Your password was changed on 12 November
Password must contain 1 digit and 1 special character
the token is expired
Invalid token: unexpected end of input
Unexpected token } in JSON at position 4471
SyntaxError: Unexpected token 'export'
Token type: Bearer
The key is under the mat
We have the keys for room 204
Turn the key 90 degrees
This key opens 3 doors
F5 key refreshes
Ctrl+Alt+Del
PIN 13 of the connector is GND
Pin code required
Card ending in 4471
Visa ****4471
IBAN ending 3000
Account balance 1,204.55 EUR
Account 20418 was closed
access level: 3
Access log: /var/log/nginx/access.log
Login successful for user ines
login as: ines
Last login: Mon Nov 23 10:02:14 2026 from 10.66.0.2
user: mara (uid 1004)
secret: read-only volume
Secrets: 3
secretName: db-credentials
name: db-password
secretKeyRef: name: app-secrets key: api-token
passwordSecretRef: db-secret
existingSecret: keycloak-db
key: password
value: "true"
credentials: include
credentials file not found
type="password"
autocomplete="current-password"
id: 9d1f6a42-88c0-4d0e-b1f3-57a2c9e0d6b4
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
request id 01J9ZK3V8M2Q4T6X7Y8A9B0C1D
ObjectId("507f1f77bcf86cd799439011")
sess-20418 started
Session: 42 min
Session ID length 32
cookie consent: accepted
Cookies: 12
signature: valid
Signature: Jane Doe
Signed-off-by: Ines Takala <ines@example.nz>
hash: 5d41402abc4b2a76b9719d911017c592
checksum 1a79a4d60de6718e8e5b326e338ae533
md5 5d41402abc4b2a76b9719d911017c592  file.iso
Salt Lake City 84101
pepper: 2 tsp
torch.manual_seed(1234)
seeds planted on 12 April
code review of PR 20418
Code coverage 84.2 %
The code on line 442 fails
barcode 4006381333931
QR code on page 3
code block 3
Postcode 6011
código postal 28013
code postal 75011
kod pocztowy 00-950
Codice fiscale obbligatorio
Kundencode 4471
country code DE
Discount code WELCOME10 applied
Coupon: SAVE-20-NOW
Voucher WIND10 is valid until 30 June
dress code: casual
Bank code 37040044
combination of 3 factors
The combination 4-3-3 worked well
Lock 3 items
lock screen after 5 minutes
safe mode: off
Safe zone 4
alarm at 07:30
Alarm set for 06:45
Gate B14 closes 13:15
gate 7 opens at 9:00
Door 3, 2nd floor
door width 2580 mm
Room 4471
garage: 2 spaces
Enter 4 to continue
enter 3 names
Use 2 cups of flour
use port 8443
press 1 for sales
Type 2 diabetes
typed 4,418 words
opens at 0900
Phone code +49
area: 120 m²
CVE-2026-20418
RFC 7519
ISO 8601
PEP 8
HTTP 200 OK
port 5432 is open
pid 4471
exit 137
0x1F4A9C
#4471 closed
v2.20.18
2026-W38
Q3 2026: 4,471 units
LOT 2209-4417
Art.-Nr. 77120448
SKU: TW-20817-BLK-XL
PO 4500017734
VIN WVWZZZ1JZXW000001
Zählerstand 20418 kWh
Steuerjahr 2026
Steuersatz 19 %
tax 312.40
Tax year 2025/26
insurance policy 44.17.2026
Versicherungsschein 4 417 2026
membership no. 7004 1188 2093
Loyalty number 7004 1188 2093
frequent flyer LH 2204 1188 2093
Meter number 1EMH0012345678
tel:+4930555018
+1 (415) 555-0117
0800 555 0117
ext. 4471
The password to open the attached PDF is your date of birth.
gcloud auth activate-service-account --key-file=key.json
mozilla/Entrust_Root_Certification_Authority_-_G2.crt
raise errors.InvalidBase64CharactersDefect()
`Authorization: Bearer`
webhook_secret: base64
An RFC 2047/2243 encoded word
r = y + 0.9468822170900693*i + 0.6235565819861433*q
Use port 8443.\nNot you? Call 0800 555 0111.
"""
